import BLEWire

/// What was seen of Bluetooth on this machine, from which an ``Examination`` follows.
package struct Observations: Sendable {
    /// What apps would talk to.
    package enum Choice: Sendable {
        /// What `BLUETOOTH_HOST` says makes no sense.
        case malformed(HostSpecification.Malformed)
        /// What `BLUETOOTH_HOST` says.
        case named(HostSpecification)
        /// The daemon that listens at this path, since the variable is not set.
        case daemon(String)
        /// The first adapter that nobody uses, since the variable is not set and no daemon runs.
        case first(AdapterReference)
        /// The variable is not set, and there is no adapter to use, for this reason.
        case none(TransportError)
    }

    /// What a controller said of itself, or why it did not.
    package struct Answer: Sendable {
        /// What `BLUETOOTH_HOST` calls the controller.
        package let name: String
        package let result: Result<ControllerFacts, TransportError>
        /// Whether apps would use it.
        package let isChosen: Bool

        package init(_ name: String, _ result: Result<ControllerFacts, TransportError>, isChosen: Bool = true) {
            self.name = name
            self.result = result
            self.isChosen = isChosen
        }
    }

    /// The program that this is said of, by its path.
    package var program = ""
    /// Whether it may take adapters.
    package var isPrivileged = false
    /// The variables of the environment that steer a host, where they are set.
    package var variables: [String: String] = [:]
    package var adapters: Result<[Adapter], TransportError> = .success([])
    package var choice: Choice
    /// The programs that have the serial port open that was chosen.
    package var portUsers: [RunningProgram] = []
    /// Why the daemon that was named cannot be reached.
    package var daemonProblem: TransportError?
    /// Why the file of the world that was chosen is of no use, as a sentence.
    package var worldProblem: String?
    /// The controllers that were asked.
    package var answers: [Answer] = []
    package var state: StateInspection

    package init(choosing choice: Choice, state: StateInspection) {
        self.choice = choice
        self.state = state
    }

    /// What is chosen if the variable says `text`, a daemon listens at `path`, and these adapters are there.
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

    /// Whether apps would use this adapter.
    func isChosen(_ adapter: Adapter) -> Bool {
        switch choice {
        case .named(.adapter(.index(let index))), .first(.index(let index)): adapter.index == index
        case .named(.adapter(.address(let address))), .first(.address(let address)):
            adapter.address?.value == address.value
        case .malformed, .named, .daemon, .none: false
        }
    }

    /// The adapters that may be asked what they can do, since nobody uses them and nothing stands against it.
    package var freeAdapters: [Adapter] {
        guard case .success(let adapters) = adapters else { return [] }
        return adapters.filter {
            $0.state == .off && $0.objections(to: program, isPrivileged: isPrivileged).isEmpty
        }
    }
}
