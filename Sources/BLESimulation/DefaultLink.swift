import BLEHost
package import BLERuntime
import FoundationEssentials
import Glibc
package import Logging

/// The choice of the host that new managers use.
package enum DefaultLink {
    /// The link for new managers: ``Bluetooth/link`` if it is set, otherwise the machine that the process inhabits,
    /// otherwise the host that the environment names.
    ///
    /// All managers outside of worlds share the host of the environment. If there are worlds and the environment names
    /// no host, a manager outside of them is probably a mistake: its host is unsupported, and an error is logged.
    package static var current: any HostLink {
        if let chosen { return chosen }
        let name = HostSpecification.named(environment)
        return outside(name, worlds: World.count, logger: .coreBluetooth) ?? shared
    }

    /// The explicit choice in this process; `nil` if the environment decides.
    package static var chosen: (any HostLink)? { Bluetooth.link ?? ProcessMachine.machine }

    /// Returns an unsupported link if it is probably a mistake that a manager was created outside of all worlds;
    /// otherwise `nil`.
    ///
    /// A mistake is probable if there are worlds, but `name`, the host that the environment names, is `nil`. In that
    /// case, logs an error.
    package static func outside(_ name: String?, worlds: Int, logger: Logger) -> (any HostLink)? {
        guard name == nil, worlds > 0 else { return nil }
        logger.error(
            """
            A manager was created outside a world although one exists, so the manager's state is unsupported. \
            `inhabit` does not apply to queues, timers or detached tasks. Put the whole process into a machine with \
            `machine.inhabitProcessWide()`, or create the manager within `machine.inhabit { }`.
            """
        )
        return UnsupportedLink()
    }

    private static let shared = link(
        named: HostSpecification.named(environment),
        logger: .coreBluetooth
    )

    /// The name that hosts of this process have in their GAP service; `nil` for the name of the computer.
    private static let deviceName = Locked<String?>(nil)

    /// Sets the name in the GAP service of the hosts that this process starts from now on.
    ///
    /// This is for a program that acts as one device. The host of a daemon and the machines of worlds keep their names.
    package static func name(hosts name: String) { deviceName.withLock { $0 = name } }

    /// Starts the host that `text` names.
    ///
    /// If the host cannot be used, logs what the user can do.
    ///
    /// - Parameters:
    ///   - text: A ``HostSpecification``; `nil` for the daemon if there is one, otherwise the first free adapter of the
    ///     machine.
    ///   - kernel: The kernel in which to look for an adapter if `text` is `nil`.
    ///   - logger: The logger for a missing or unusable host.
    /// - Returns: The host, or an unsupported host.
    package static func link(
        named text: String?,
        in kernel: some AdapterKernel = LinuxKernel(),
        logger: Logger
    ) -> any HostLink {
        guard let text else {
            if let path = DaemonSocket.listening(among: DaemonSocket.candidates(environment: environment)) {
                return DaemonLink(to: path, logger: logger)
            }
            do throws(TransportError) {
                let adapter = try AdapterReference.firstUsable(in: kernel)
                return runner(on: PortTransport(UserChannelPort(adapter, kernel: kernel)), nil)
            } catch {
                let cure = error.cure.asNextSentence
                logger.error(
                    """
                    No Bluetooth host is available (\(error)).\(cure) To try without a radio, set \
                    \(HostSpecification.variable)=demo. Other values: \(HostSpecification.forms).
                    """
                )
                return UnsupportedLink()
            }
        }
        do {
            return try link(to: HostSpecification(text))
        } catch {
            logger.error("\(HostSpecification.variable) is invalid. \(error)")
            return UnsupportedLink()
        }
    }

    /// Starts the host that `specification` names.
    ///
    /// - Parameters:
    ///   - specification: The host to use.
    ///   - tap: Called with every packet between the host and its controller, or between all hosts of a world and their
    ///     controllers.
    /// - Returns: The host, which connects to its controller later.
    /// - Throws: The reason why the file of a world cannot be used. A missing controller is not an error here: managers
    ///   report it later.
    package static func link(to specification: HostSpecification, tap: PacketTap? = nil) throws -> any HostLink {
        switch specification {
        case .adapter(let reference): return runner(on: PortTransport(UserChannelPort(reference)), tap)
        case .serial(let address): return runner(on: PortTransport(SerialPort(address)), tap)
        case .socket(let address): return runner(on: SocketTransport(to: address), tap)
        case .world(let file): return phone(of: try scenario(in: file), tap)
        case .demo: return phone(of: .demo, tap)
        case .daemon(let path, let radio):
            let places = DaemonSocket.candidates(environment: environment)
            let place = path ?? DaemonSocket.listening(among: places) ?? places[0]
            return DaemonLink(to: place, radio: radio)
        }
    }

    /// The reason why a world file cannot be used.
    private struct UnusableFile: Error, CustomStringConvertible {
        let file: String
        let reason: String
        var description: String { "\(file) cannot be used: \(reason)." }
    }

    /// Returns the reason why a world file cannot be used, as a sentence; `nil` if it can.
    package static func problem(ofWorld file: String) -> String? {
        do throws(UnusableFile) {
            _ = try scenario(in: file)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static func scenario(in file: String) throws(UnusableFile) -> Scenario {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: file))
        } catch {
            throw UnusableFile(file: file, reason: SystemFile.reason(for: error, at: file))
        }
        do {
            return try Scenario(json: data)
        } catch let error as DecodingError {
            throw UnusableFile(file: error.place(in: file, data), reason: error.explanation)
        } catch {
            throw UnusableFile(file: file, reason: "\(error)")
        }
    }

    private static func runner(on transport: any Transport, _ tap: PacketTap?) -> any HostLink {
        let configuration = Host.Configuration(
            name: deviceName.withLock { $0 } ?? hostName,
            identifierSecret: storage?.secret ?? freshSecret,
            knownPeers: storage?.peers ?? [],
            isPrivate: storage != nil && environment(ProgramEnvironment.privacyVariable) == "on",
            limits: Limits(memory: sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)))
        )
        let host = Host(configuration: configuration, random: SystemRandomNumberGenerator())
        let runner = HostRunner(
            host,
            transport: transport,
            storage: storage,
            radioStorage: radioStorage,
            tap: tap,
            capture: capture,
            program: ProgramName.own,
            isWatchable: true
        )
        runner.start()
        return runner
    }

    /// The user's stored state, shared by all hosts of the process; `nil` if the environment names no home directory.
    ///
    /// Changes that have not been written yet are written when the process exits.
    private static let storage: StateFile? = {
        guard let path = StateFile.standardPath(environment: environment) else { return nil }
        atexit { storage?.flush() }
        return StateFile(path: path, freshSecret: freshSecret)
    }()

    /// The stored state of virtual radios, shared by all hosts of the process; `nil` if the environment names no home
    /// directory.
    private static let radioStorage: RadioStateFiles? = {
        guard let folder = StateFile.radioFolder(environment: environment) else { return nil }
        atexit { radioStorage?.flush() }
        return RadioStateFiles(folder: folder, secret: storage?.secret ?? freshSecret)
    }()

    /// The capture file that the environment names; `nil` if it names none or the file cannot be written.
    ///
    /// Logs an error if the file cannot be written.
    private static let capture: CaptureFile? = {
        guard let path = environment(CaptureFile.variable) else { return nil }
        do {
            return try CaptureFile(path: path) { Logger.coreBluetooth.error("\($0) No more packets are recorded.") }
        } catch {
            Logger.coreBluetooth.error("Packets are not recorded, although \(CaptureFile.variable) is set. \(error)")
            return nil
        }
    }()

    private static var freshSecret: UInt128 { .random(in: .min ... .max) }

    private static func phone(of scenario: Scenario, _ tap: PacketTap?) -> Machine {
        let world = scenario.makeWorld()
        let capture = capture
        if tap != nil || capture != nil {
            world.observe { record in
                tap?(record)
                capture?.write(record)
            }
        }
        let phone = world.machine(scenario.appMachine)
        world.runInRealTime()
        return phone
    }

    /// The name of this computer, up to the first dot.
    private static var hostName: String {
        var octets = [CChar](repeating: 0, count: 256)
        guard gethostname(&octets, octets.count - 1) == 0 else { return "" }
        let name = octets.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: name.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
