import ArgumentParser
import BLEDaemon
import BLEHost
import BLERuntime
import BLESimulation
import BLEWire
import Dispatch
import Foundation
import Logging

/// A kind of file that programs of this project read.
enum FileKind: String, CaseIterable, ExpressibleByArgument {
    /// A world, as in `BLUETOOTH_HOST=world:FILE`.
    case world
    /// The persistent state of a host.
    case state
    /// A test case for the command `att`.
    case attributes
    /// A packet capture, as read by `ble monitor`.
    case capture
    /// The saved sessions of a daemon.
    case sessions
    /// The manifest with which an app declares itself to the daemon.
    case manifest
    /// The policy of a daemon: the permissions of apps.
    case policy

    /// Uses a file with these octets; returns whether that succeeds.
    func isUsable(_ octets: [UInt8]) async -> Bool {
        do {
            switch self {
            case .world:
                let scenario = try Scenario(json: Data(octets))
                let world = scenario.makeWorld()
                await Self.scan(in: world, from: world.machine(scenario.appMachine))
            case .state: try Self.remember(octets)
            case .capture: try Self.decompose(octets)
            case .sessions:
                if KeptFile.records(in: octets)?.isEmpty ?? true { throw InvalidInput("the file contains no session") }
            case .policy: _ = try AppPolicy(json: Data(octets), origin: "the policy")
            case .manifest: _ = try AppManifest(json: Data(octets))
            case .attributes: try Self.serve(AttributeCase(json: String(decoding: octets, as: UTF8.self)))
            }
            return true
        } catch {
            return false
        }
    }

    /// Makes an app in a world scan long enough to find nearby devices.
    private static func scan(in world: World, from machine: Machine) async {
        let session = machine.open(.central, on: DispatchQueue(label: "app")) { _ in }
        session.send(.scan(ScanRequest(allowsDuplicates: true)))
        await world.advance(by: .milliseconds(300))
        session.close()
    }

    /// Creates a host with a stored state.
    private static func remember(_ octets: [UInt8]) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "corebluetooth-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "host.json")
        try Data(octets).write(to: path)
        let quiet = Logger(label: "file") { _ in SwiftLogNoOpLogHandler() }
        let freshSecret = UInt128(0)
        let file = StateFile(path: path.path, freshSecret: freshSecret, logger: quiet)
        guard file.secret != freshSecret else { throw InvalidInput("the state could not be read") }
        var host = Host(
            configuration: .init(identifierSecret: file.secret, knownPeers: file.peers),
            random: SystemRandomNumberGenerator()
        )
        host.open(ClientID(rawValue: 1), role: .central, at: Instant())
        while host.next() != nil {}
    }

    /// Reads a capture and dissects its packets.
    private static func decompose(_ octets: [UInt8]) throws {
        var reader = CaptureReader(), trace = HCITrace()
        reader.append(octets)
        while let item = try reader.next() {
            guard case .packet(let record) = item else { continue }
            _ = trace.dissect(h4: record.bytes, isFromHost: record.direction == .toController)
        }
        try reader.finish()
    }

    /// Serves the database of a test case to a client that requests the primary services.
    private static func serve(_ description: AttributeCase) throws {
        var server = try AttributeServerDriver(description, at: Instant())
        let request = ATTPacket.readByGroupTypeRequest(.init(.all, groupType: GATT.primaryService))
        server.receive(packet: request.encoded, at: Instant())
        while server.next() != nil {}
    }
}
