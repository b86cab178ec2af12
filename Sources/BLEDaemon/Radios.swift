import BLEHost
package import BLERuntime
import BLESimulation

/// The radios of the daemon with their hosts, by the names in its arguments.
package struct Radios: CustomStringConvertible {
    private let all: [(name: String, link: any HostLink)]

    /// Creates it from existing hosts; there must be at least one.
    package init(_ all: [(name: String, link: any HostLink)]) {
        precondition(!all.isEmpty, "a daemon needs a radio")
        self.all = all
    }

    /// Starts the hosts of these radios.
    ///
    /// - Throws: The reason why the file of a world cannot be used. If a controller is missing, apps learn of it later.
    package init(opening specifications: [HostSpecification]) throws {
        self.init(try specifications.map { ("\($0)", try DefaultLink.link(to: $0)) })
    }

    /// The host with this name; the first one for an empty name; `nil` if there is none.
    subscript(name: String) -> (any HostLink)? {
        name.isEmpty ? all[0].link : all.first { $0.name == name }?.link
    }

    /// Returns the full name of a radio, or of the first one for an empty name; `nil` if there is none.
    func name(of name: String) -> String? { name.isEmpty ? all[0].name : all.first { $0.name == name }?.name }

    /// Opens a session with each host and discards its events.
    func openSessions(_ role: ClientRole) -> [any HostSession] {
        all.map { $0.link.open(role, restoring: nil, .inTurn { $0.removeAll() }) }
    }

    /// The names of all radios.
    var names: [String] { all.map(\.name) }

    /// Switches Bluetooth off or on for the radio with this name; returns whether there is one that can be switched.
    func switchBluetooth(on isOn: Bool, _ name: String) -> Bool {
        guard let host = self[name] as? any SwitchableHost else { return false }
        host.switchBluetooth(on: isOn)
        return true
    }

    package var description: String { all.map { "“\($0.name)”" }.joined(separator: ", ") }
}
