import BLEWire

/// The state of Bluetooth on this machine, as the input of an ``Examination``.
package struct Observations: Sendable {
    /// The host that apps would use.
    package enum HostChoice: Sendable {
        /// `BLUETOOTH_HOST` is invalid.
        case malformed(HostSpecification.Malformed)
        /// `BLUETOOTH_HOST` names this host.
        case named(HostSpecification)
        /// The daemon at this path, because `BLUETOOTH_HOST` is not set.
        case daemon(String)
        /// The first free adapter, because `BLUETOOTH_HOST` is not set and no daemon is running.
        case first(AdapterReference)
        /// No host: `BLUETOOTH_HOST` is not set, no daemon is running, and no adapter can be used; the error says why.
        case none(TransportError)
    }

    /// The properties that a probed controller reported, or the reason why it reported none.
    package struct ProbeResult: Sendable {
        /// The name of the controller, as written in `BLUETOOTH_HOST`.
        package let name: String
        package let result: Result<ControllerFacts, TransportError>
        /// True if apps would use this controller.
        package let isChosen: Bool

        package init(_ name: String, _ result: Result<ControllerFacts, TransportError>, isChosen: Bool = true) {
            self.name = name
            self.result = result
            self.isChosen = isChosen
        }
    }

    /// The path of the program whose permissions are examined.
    package var program = ""
    /// True if ``program`` has CAP_NET_ADMIN, which it needs to use an adapter exclusively.
    package var isPrivileged = false
    /// The values of the environment variables that affect a host; unset variables have no entry.
    package var variables: [String: String] = [:]
    package var adapters: Result<[Adapter], TransportError> = .success([])
    package var choice: HostChoice
    /// The programs that have the chosen serial port open; empty if another host is chosen.
    package var portUsers: [RunningProgram] = []
    /// The reason why the daemon named in `BLUETOOTH_HOST` cannot be reached; `nil` if it can be reached, or if no
    /// daemon is named.
    package var daemonProblem: TransportError?
    /// The reason why the world file named in `BLUETOOTH_HOST` is invalid; `nil` if it is valid, or if no file is
    /// named.
    package var worldProblem: String?
    /// The results of probing controllers.
    package var probeResults: [ProbeResult] = []
    package var state: StateInspection

    package init(choosing choice: HostChoice, state: StateInspection) {
        self.choice = choice
        self.state = state
    }

    /// Returns the host that apps would use.
    ///
    /// This is the host that `text` names; if `text` is `nil`, the daemon at `path`; if `path` is `nil`, too, or `text`
    /// is `hci:first`, the first free adapter.
    package static func choice(
        named text: String?,
        daemon path: String?,
        among adapters: Result<[Adapter], TransportError>,
        for program: String,
        isPrivileged: Bool
    ) -> HostChoice {
        if let text {
            do throws(HostSpecification.Malformed) {
                let named = try HostSpecification(text)
                if named != .adapter(.first) { return .named(named) }
            } catch {
                return .malformed(error)
            }
        } else if let path {
            return .daemon(path)
        }
        do throws(TransportError) {
            let all = try adapters.get()
            return .first(try .firstUsable(among: all, for: program, isPrivileged: isPrivileged))
        } catch {
            return .none(error)
        }
    }

    /// Returns whether apps would use this adapter.
    func isChosen(_ adapter: Adapter) -> Bool {
        switch choice {
        case .named(.adapter(.index(let index))), .first(.index(let index)): adapter.index == index
        case .named(.adapter(.address(let address))), .first(.address(let address)):
            adapter.address?.value == address.value
        case .malformed, .named, .daemon, .first(.first), .none: false
        }
    }

    /// The adapters that may be probed, because they are free and nothing keeps `program` from using them.
    package var freeAdapters: [Adapter] {
        guard case .success(let adapters) = adapters else { return [] }
        return adapters.filter {
            $0.state == .off && $0.objections(to: program, isPrivileged: isPrivileged).isEmpty
        }
    }
}
