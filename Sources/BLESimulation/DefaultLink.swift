import BLEHost
package import BLERuntime
import FoundationEssentials
import Glibc
package import Logging

/// The host that new managers talk to.
package enum DefaultLink {
    /// What ``Bluetooth/link`` says, else the host that the environment names.
    ///
    /// All managers of the process that ask the environment share one host.
    package static var current: any HostLink { Bluetooth.link ?? shared }

    private static let shared = link(
        named: environment(HostSpecification.variable),
        logger: .coreBluetooth
    )

    /// Starts the host that the environment names, or says in the log what to do.
    ///
    /// - Parameters:
    ///   - text: A ``HostSpecification``; `nil` if there is none.
    ///   - logger: Where to say that there is none, or that it is of no use.
    /// - Returns: The host, or one that is not supported.
    package static func link(named text: String?, logger: Logger) -> any HostLink {
        guard let text else {
            logger.error(
                """
                There is no Bluetooth host to talk to. Set \(HostSpecification.variable) to one: tcp:HOST:PORT or \
                unix:PATH for a controller that speaks HCI there, world:FILE.json or demo for a simulated world.
                """
            )
            return UnsupportedLink()
        }
        do {
            return try link(to: HostSpecification(text))
        } catch {
            logger.error("\(HostSpecification.variable) is of no use. \(error)")
            return UnsupportedLink()
        }
    }

    /// Starts the host that `specification` names.
    ///
    /// - Parameters:
    ///   - specification: Which host it is.
    ///   - tap: Hears of every packet between that host, or all hosts of that world, and their controllers.
    /// - Returns: The host, which is still on its way to its controller.
    /// - Throws: Why the file of a world cannot be used. That there is no controller is heard later, by managers.
    package static func link(to specification: HostSpecification, tap: PacketTap? = nil) throws -> any HostLink {
        switch specification {
        case .socket(let address): return runner(on: SocketTransport(to: address), tap)
        case .world(let file): return try phone(of: Scenario(json: Data(contentsOf: URL(filePath: file))), tap)
        case .demo: return phone(of: .demo, tap)
        }
    }

    private static func runner(on transport: any Transport, _ tap: PacketTap?) -> any HostLink {
        var random = SystemRandomNumberGenerator()
        let fresh = UInt128(random.next()) << 64 | UInt128(random.next())
        let file = StateFile.standardPath(environment: environment).map { StateFile(path: $0, freshSecret: fresh) }
        let configuration = Host.Configuration(
            name: hostName,
            identifierSecret: file?.secret ?? fresh,
            knownPeers: file?.peers ?? []
        )
        let host = Host(configuration: configuration, random: random)
        let runner = HostRunner(host, transport: transport, storage: file, tap: tap)
        runner.start()
        return runner
    }

    private static func phone(of scenario: Scenario, _ tap: PacketTap?) -> Machine {
        let world = scenario.makeWorld()
        if let tap { world.observe(tap) }
        let phone = world.machine("phone")
        world.runInRealTime()
        return phone
    }

    /// What this computer is called, up to the first dot.
    private static var hostName: String {
        var octets = [CChar](repeating: 0, count: 256)
        guard gethostname(&octets, octets.count - 1) == 0 else { return "" }
        let name = octets.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: name.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
