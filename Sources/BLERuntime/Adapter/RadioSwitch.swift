package import BLEWire

/// A switch of the machine that can silence a radio, as the kernel's rfkill knows it.
package struct RadioSwitch: Equatable, Sendable {
    /// How a radio is silenced.
    package enum Block: Equatable, Sendable, CustomStringConvertible {
        /// By a program or a key, and a program can undo it.
        case soft
        /// By a switch of the machine or its firmware, and no program can undo it.
        case hard

        package var description: String {
            switch self {
            case .soft: "soft"
            case .hard: "hard"
            }
        }
    }

    /// What the switch is called; for that of an adapter, the adapter's name.
    package let name: String
    /// `nil` if the radio may be used.
    package let block: Block?

    package init(name: String, block: Block?) {
        self.name = name
        self.block = block
    }

    /// The adapter that this switch belongs to; `nil` for one of the whole machine.
    package var index: AdapterIndex? { AdapterIndex(name: name) }

    /// The switches for Bluetooth that the kernel shows below `root`.
    static func all(below root: String) -> [Self] {
        let folder = root + "/sys/class/rfkill"
        return SystemFile.names(in: folder).compactMap { entry in
            let path = "\(folder)/\(entry)"
            guard SystemFile.line(of: path + "/type") == "bluetooth", let name = SystemFile.line(of: path + "/name")
            else { return nil }
            let isHard = SystemFile.line(of: path + "/hard") == "1"
            let isSoft = SystemFile.line(of: path + "/soft") == "1"
            return Self(name: name, block: isHard ? .hard : isSoft ? .soft : nil)
        }
    }
}
