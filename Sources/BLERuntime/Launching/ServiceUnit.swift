import Glibc

/// The systemd unit that a process runs in; the unit may declare background modes.
///
/// Units declare background modes in a section whose name starts with X-, because systemd ignores such sections:
///
///     [X-Bluetooth]
///     UIBackgroundModes=bluetooth-central
struct ServiceUnit: Equatable {
    private static let section = "[X-Bluetooth]"
    private static let modesKey = "UIBackgroundModes"

    let name: UnitName
    /// True if a user's service manager started the unit, instead of the system's.
    let isOfUser: Bool

    /// Finds the unit of a process in the text of its `/proc/PID/cgroup`; returns `nil` if the process does not run in
    /// a unit.
    init?(inGroups text: String) {
        let lines = text.split(separator: "\n").map { $0.split(separator: ":", maxSplits: 2) }
        let path =
            lines.first { $0.count == 2 && $0[0] == "0" }?[1]
            ?? lines.first { $0.count == 3 && $0[1] == "name=systemd" }?[2]
        let parts = path?.split(separator: "/") ?? []
        guard let last = parts.lastIndex(where: { $0.hasSuffix(".service") }), let name = UnitName(String(parts[last])),
            !Self.isManager(parts[last])
        else { return nil }
        self.name = name
        isOfUser = parts[..<last].contains(where: Self.isManager)
    }

    private static func isManager(_ part: Substring) -> Bool { part.hasPrefix("user@") && part.hasSuffix(".service") }

    /// Returns the background modes in the unit's file; empty if there are none.
    ///
    /// `root` is put before all paths; it is empty outside of tests. `environment` returns the value of an environment
    /// variable.
    func backgroundModes(below root: String = "", _ environment: (String) -> String?) -> [String] {
        for folder in folders(environment) {
            for name in [name.description, name.template] {
                let text = SystemFile.text(of: "\(root)\(folder)/\(name)", most: 65_536)
                if !text.isEmpty { return Self.backgroundModes(in: text) }
            }
        }
        return []
    }

    /// Returns the directories with unit files, in order of precedence.
    private func folders(_ environment: (String) -> String?) -> [String] {
        guard isOfUser else {
            return ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"].map { $0 + "/systemd/system" }
        }
        let home = environment("HOME")
        let own = [
            environment("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }, "/etc", environment("XDG_RUNTIME_DIR"),
            "/run",
            environment("XDG_DATA_HOME") ?? home.map { $0 + "/.local/share" }, "/usr/local/lib", "/usr/lib",
        ]
        return own.compactMap { $0 }.map { $0 + "/systemd/user" }
    }

    /// Returns the background modes declared in a unit file, read by the rules of systemd.syntax(7).
    static func backgroundModes(in text: String) -> [String] {
        var modes: [String] = [], isInside = false, begun = ""
        for raw in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let line = raw.drop { $0 == " " || $0 == "\t" }
            if line.first == "#" || line.first == ";" { continue }
            if line.last == "\\" {
                begun += line.dropLast() + " "
                continue
            }
            let whole = begun + line
            begun = ""
            if whole.first == "[" {
                isInside = whole.split(whereSeparator: \.isWhitespace).first.map(String.init) == section
            } else if isInside, let equals = whole.firstIndex(of: "="),
                whole[..<equals].split(whereSeparator: \.isWhitespace) == [Substring(modesKey)]
            {
                let added = whole[whole.index(after: equals)...].split { $0.isWhitespace || $0 == "," }
                modes = added.isEmpty ? [] : modes + added.map(String.init)
            }
        }
        return modes
    }
}

/// The name of a systemd service unit, valid according to systemd.unit(5).
package struct UnitName: Equatable, Sendable, CustomStringConvertible {
    private static let suffix = ".service"
    private static let signs = Set(":_.\\@-".utf8)

    package let description: String

    /// Creates a name; returns `nil` if it is not a valid name of a service unit.
    package init?(_ name: String) {
        let octets = name.utf8
        guard name.hasSuffix(Self.suffix), (Self.suffix.utf8.count + 1...255).contains(octets.count),
            octets.first != UInt8(ascii: "."), octets.first != UInt8(ascii: "@"),
            octets.allSatisfy({ Self.signs.contains($0) || Self.isAlphanumeric($0) })
        else { return nil }
        description = name
    }

    /// The name of the unit's template, such as `a@.service` for `a@b.service`; its own name if it has no template.
    var template: String {
        guard let at = description.firstIndex(of: "@") else { return description }
        return description[...at] + Self.suffix
    }

    private static func isAlphanumeric(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
