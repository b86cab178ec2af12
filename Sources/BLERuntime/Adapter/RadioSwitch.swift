package import BLEWire

/// A switch that can block a radio (rfkill), in software or hardware.
package struct RadioSwitch: Equatable, Sendable {
    /// The kind of block.
    package enum Block: Equatable, Sendable, CustomStringConvertible {
        /// Blocked by a program or by a key on the keyboard; a program can unblock it.
        case soft
        /// Blocked by a hardware switch or firmware; no program can unblock it.
        case hard

        package var description: String {
            switch self {
            case .soft: "soft"
            case .hard: "hard"
            }
        }
    }

    /// The name of the switch; if it belongs to an adapter, the adapter's name.
    package let name: String
    /// The kind of block; `nil` if the radio is not blocked.
    package let block: Block?

    package init(name: String, block: Block?) {
        self.name = name
        self.block = block
    }

    /// The adapter that this switch belongs to; `nil` for a switch of the whole machine.
    package var index: AdapterIndex? { AdapterIndex(name: name) }

    /// Returns the Bluetooth switches listed below `root`, the directory of the kernel's virtual files.
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
