import BLEWire

/// The observations of Bluetooth on this machine, from which an ``Examination`` follows.
package struct Observations: Sendable {
    /// The host that apps would use.
    package enum Choice: Sendable {
        /// `BLUETOOTH_HOST` is invalid.
        case malformed(HostSpecification.Malformed)
        /// `BLUETOOTH_HOST` names this host.
        case named(HostSpecification)
        /// The daemon at this path, because the variable is not set.
        case daemon(String)
        /// The first free adapter, because the variable is not set and no daemon is running.
        case first(AdapterReference)
        /// None: the variable is not set, and no adapter can be used for this reason.
        case none(TransportError)
    }

    /// The properties that a controller reported, or the reason why it did not.
    package struct Answer: Sendable {
        /// The name of the controller in `BLUETOOTH_HOST`.
        package let name: String
        package let result: Result<ControllerFacts, TransportError>
        /// True if apps would use it.
        package let isChosen: Bool

        package init(_ name: String, _ result: Result<ControllerFacts, TransportError>, isChosen: Bool = true) {
            self.name = name
            self.result = result
            self.isChosen = isChosen
        }
    }

    /// The path of the program that this applies to.
    package var program = ""
    /// True if it may take adapters.
    package var isPrivileged = false
    /// The environment variables that affect a host, as far as they are set.
    package var variables: [String: String] = [:]
    package var adapters: Result<[Adapter], TransportError> = .success([])
    package var choice: Choice
    /// The programs that have the chosen serial port open.
    package var portUsers: [RunningProgram] = []
    /// The reason why the named daemon cannot be reached.
    package var daemonProblem: TransportError?
    /// The reason why the world file cannot be used, as a sentence.
    package var worldProblem: String?
    /// The probed controllers.
    package var answers: [Answer] = []
    package var state: StateInspection

    package init(choosing choice: Choice, state: StateInspection) {
        self.choice = choice
        self.state = state
    }

    /// Returns the choice for the variable's `text`, a daemon at `path`, and these adapters.
    package static func choice(
        named text: String?,
        daemon path: String?,
        among adapters: Result<[Adapter], TransportError>,
        for program: String,
        isPrivileged: Bool
    ) -> Choice {
        if let text {
            do throws(HostSpecification.Malformed) {
                return .named(try HostSpecification(text))
            } catch {
                return .malformed(error)
            }
        }
        if let path { return .daemon(path) }
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
        case .malformed, .named, .daemon, .none: false
        }
    }

    /// The adapters that can be probed, because they are free and there is no obstacle.
    package var freeAdapters: [Adapter] {
        guard case .success(let adapters) = adapters else { return [] }
        return adapters.filter {
            $0.state == .off && $0.objections(to: program, isPrivileged: isPrivileged).isEmpty
        }
    }
}
