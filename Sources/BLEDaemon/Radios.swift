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
    subscript(name: String) -> (any HostLink)? { position(of: name).map { all[$0].link } }

    /// Returns the name of a radio, or of the first radio if `name` is empty; `nil` if there is no such radio.
    func name(of name: String) -> String? { position(of: name).map { all[$0].name } }

    /// Returns the position of a radio.
    ///
    /// A daemon that was started without radios has the adapter that was usable then, such as `hci:0`, or `hci:first`.
    /// Each of these names also means the other, so that apps find their sessions when the daemon has started again.
    private func position(of name: String) -> Int? {
        if name.isEmpty { return 0 }
        if let position = all.firstIndex(where: { $0.name == name }) { return position }
        let first = "\(AdapterReference.first)", prefix = "hci:"
        if name == first { return all.firstIndex { $0.name.hasPrefix(prefix) } }
        return name.hasPrefix(prefix) ? all.firstIndex { $0.name == first } : nil
    }

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
