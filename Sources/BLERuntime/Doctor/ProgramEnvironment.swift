import Logging

/// The machine and the environment variables of a program, which are the source of ``Observations``.
///
/// Observing does not disturb other programs: an adapter or a serial port is reset and probed only if it is free.
package struct ProgramEnvironment: Sendable {
    /// The environment variable that enables private addresses.
    package static let privacyVariable = "BLUETOOTH_PRIVACY"

    /// The environment variables that affect a host, except the one that selects it.
    static let variables = [
        privacyVariable, CaptureFile.variable, Logger.levelVariable, BackgroundDeclaration.variable,
    ]

    private let kernel: any AdapterKernel
    private let environment: @Sendable (String) -> String?
    private let worldProblem: @Sendable (String) -> String?
    private let timeout: Duration

    /// Creates access to a program's machine and environment.
    ///
    /// - Parameters:
    ///   - kernel: The kernel of the machine.
    ///   - timeout: The time limit for all responses of one controller together.
    ///   - environment: Returns the value of an environment variable.
    ///   - worldProblem: Returns the reason why a file is not a valid world; `nil` if it is valid.
    package init(
        kernel: any AdapterKernel = LinuxKernel(),
        timeout: Duration = ProbeSession.timeout,
        environment: @escaping @Sendable (String) -> String?,
        worldProblem: @escaping @Sendable (String) -> String?
    ) {
        self.kernel = kernel
        self.environment = environment
        self.worldProblem = worldProblem
        self.timeout = timeout
    }

    /// Observes the machine and the environment; if `isAsking` is true, also probes the free controllers.
    package func observed(asking isAsking: Bool) async -> Observations {
        let (program, isPrivileged) = (kernel.program, kernel.isPrivileged)
        let adapters = Result { () throws(TransportError) in try Adapter.all(in: kernel) }
        let places = DaemonSocket.candidates(environment: environment), daemon = DaemonSocket.listening(among: places)
        let choice = Observations.choice(
            named: HostSpecification.named(environment),
            daemon: daemon,
            among: adapters,
            for: program,
            isPrivileged: isPrivileged
        )
        let path = StateFile.standardPath(environment: environment)
        var observations = Observations(choosing: choice, state: StateInspection(of: path))
        (observations.program, observations.isPrivileged) = (program, isPrivileged)
        observations.adapters = adapters
        for variable in Self.variables { observations.variables[variable] = environment(variable) }
        if case .named(.world(let file)) = choice { observations.worldProblem = worldProblem(file) }
        if case .named(.daemon(let path, _)) = choice {
            observations.daemonProblem = DaemonSocket.problem(at: path ?? daemon ?? places[0])
        }
        if case .named(.serial(let address)) = choice { observations.portUsers = users(of: address.path) }
        if isAsking { await probe(&observations) }
        return observations
    }

    /// Returns the programs that have a serial port open; empty for other devices such as `/dev/null`.
    private func users(of path: String) -> [RunningProgram] {
        SystemFile.isMemory(path) ? [] : kernel.users(of: path)
    }

    /// Probes the controller that apps would use; a serial port or an adapter is probed only if it is free.
    ///
    /// If apps would use an adapter, or if there is no host that they can use, all free adapters are probed.
    private func probe(_ observations: inout Observations) async {
        switch observations.choice {
        case .malformed, .named(.world), .named(.demo), .named(.daemon), .daemon: break
        case .named(.socket(let address)): await probe(SocketTransport(to: address), &observations)
        case .named(.serial(let address)):
            if observations.portUsers.isEmpty { await probe(PortTransport(SerialPort(address)), &observations) }
        case .named(.adapter), .first, .none:
            for adapter in observations.freeAdapters {
                let transport = PortTransport(UserChannelPort(.index(adapter.index), kernel: kernel))
                await probe(transport, isChosen: observations.isChosen(adapter), &observations)
            }
        }
    }

    private func probe(
        _ transport: any Transport,
        isChosen: Bool = true,
        _ observations: inout Observations
    ) async {
        let result: Result<ControllerFacts, TransportError>
        do throws(TransportError) {
            result = .success(try await ProbeSession.facts(through: transport, within: timeout))
        } catch {
            result = .failure(error)
        }
        observations.probeResults.append(.init(transport.name, result, isChosen: isChosen))
    }
}
