import BLEHost
package import BLERuntime
import BLESimulation

/// The daemon's radios, each with its host, by the names in the daemon's arguments.
package struct Radios: CustomStringConvertible {
    private let all: [(name: String, link: any HostLink)]

    /// Creates a collection of existing hosts.
    ///
    /// There must be at least one.
    package init(_ all: [(name: String, link: any HostLink)]) {
        precondition(!all.isEmpty, "a daemon must have at least one radio")
        self.all = all
    }

    /// Starts a host for each of these radios.
    ///
    /// - Throws: The reason why the file of a simulated world is invalid. A missing controller is not an error here; it
    ///   is reported to apps later.
    package init(opening specifications: [HostSpecification]) throws {
        self.init(try specifications.map { ("\($0)", try DefaultLink.link(to: $0)) })
    }

    /// The host of the radio with this name, or of the first radio if the name is empty; `nil` if there is no such
    /// radio.
    subscript(name: String) -> (any HostLink)? {
        name.isEmpty ? all[0].link : all.first { $0.name == name }?.link
    }

    /// Returns the name of a radio, or of the first radio if `name` is empty; `nil` if there is no such radio.
    func name(of name: String) -> String? { name.isEmpty ? all[0].name : all.first { $0.name == name }?.name }

    /// Opens a session with each host.
    ///
    /// Events of these sessions are discarded.
    func openSessions(_ role: ClientRole) -> [any HostSession] {
        all.map { $0.link.open(role, restoring: nil, .inTurn { $0.removeAll() }) }
    }

    /// The names of all radios.
    var names: [String] { all.map(\.name) }

    /// Switches Bluetooth on or off for the radio with this name; returns whether there is such a radio and it can be
    /// switched.
    func switchBluetooth(on isOn: Bool, _ name: String) -> Bool {
        guard let host = self[name] as? any SwitchableHost else { return false }
        host.switchBluetooth(on: isOn)
        return true
    }

    package var description: String { all.map { "“\($0.name)”" }.joined(separator: ", ") }
}
