import Dispatch
import FoundationEssentials
import Synchronization
import Testing

@testable import BLERuntime

@Suite("Socket transport", .timeLimit(.minutes(30)))
struct SocketTransportTests {
    /// The system has no free port.
    private struct NoPort: Error {}

    static let event: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]

    @Test("Octets reach the client in order over TCP and Unix sockets", arguments: [false, true])
    func carries(isUnix: Bool) async throws {
        let controller = try ScriptedController(isUnix: isUnix)
        let owner = TransportOwner(to: controller.address)
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        for octet in Self.event { controller.send([octet]) }
        #expect(await owner.packet() == Self.event)
        owner.send([1, 3, 12, 0])
        #expect(await controller.received(4) == [1, 3, 12, 0])
        owner.stop()
        controller.stop()
    }

    @Test("All addresses of a host name are tried in order")
    func addresses() async throws {
        guard let refusing = ReservedPort() else { throw NoPort() }
        let controller = try ScriptedController()
        let others = try SocketAddress.tcp(host: "127.0.0.1", port: refusing.number).names()
        let names = try others + controller.address.names() + others
        let owner = TransportOwner(SocketTransport(to: .tcp(host: "localhost", port: 1)) { names })
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        controller.send(Self.event)
        #expect(await owner.packet() == Self.event)
        owner.stop()
        controller.stop()
        let hopeless = TransportOwner(SocketTransport(to: .tcp(host: "localhost", port: 1)) { others + others })
        #expect(await hopeless.next() == .absent(.unreachable))
        #expect(hopeless.lastFailure?.finding == .noListener)
        hopeless.stop()
    }

    @Test("If an address does not answer within 2 s, the next one is tried")
    func silentAddress() async throws {
        // The system drops connections to a socket whose queue is full.
        let silent = try FullListener(), controller = try ScriptedController()
        let names = try silent.address.names() + controller.address.names()
        let owner = TransportOwner(SocketTransport(to: .tcp(host: "localhost", port: 1)) { names })
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        owner.stop()
        controller.stop()
        withExtendedLifetime(silent) {}
    }

    @Test("A controller that dies and returns is found again")
    func returns() async throws {
        let controller = try ScriptedController()
        let owner = TransportOwner(to: controller.address)
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        controller.drop()
        #expect(await owner.next() == .closed(.closed))
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        controller.send(Self.event)
        #expect(await owner.packet() == Self.event)
        owner.stop()
        controller.stop()
    }

    @Test("A controller that responds but cannot be reset is tried less and less often, and counts as absent")
    func useless() async throws {
        let controller = try ScriptedController(), owner = TransportOwner(to: controller.address)
        var seen: [TransportOwner.Event] = []
        for _ in 0..<5 {
            #expect(await owner.next() == .opened)
            await controller.nextConnection()
            controller.send(Self.event)
            #expect(await owner.packet() == Self.event)
            owner.reset()
            if let event = await owner.next() { seen.append(event) }
        }
        #expect(seen == [.closed(.closed), .closed(.closed)] + Array(repeating: .absent(.closed), count: 3))
        owner.stop()
        controller.stop()
    }

    @Test("A controller that was never there is absent, and is found once it appears")
    func comesLate() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/hci-\(UUID().uuidString.prefix(8))"
        let owner = TransportOwner(to: .unix(path: path))
        #expect(await owner.next() == .absent(.unreachable))
        let controller = try ScriptedController(at: .unix(path: path))
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        owner.stop()
        controller.stop()
    }

    @Test("A controller that disappears and stays away becomes absent")
    func staysAway() async throws {
        // A port could be somebody else's as soon as it is free.
        let path = FileManager.default.temporaryDirectory.path + "/hci-\(UUID().uuidString.prefix(8))"
        let controller = try ScriptedController(at: .unix(path: path))
        let owner = TransportOwner(to: .unix(path: path))
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        controller.stop()
        #expect(await owner.next() == .closed(.closed))
        #expect(await owner.next() == .absent(.unreachable))
        owner.stop()
    }

    @Test("Garbage ends the connection, and the next one starts afresh")
    func garbage() async throws {
        let controller = try ScriptedController()
        let owner = TransportOwner(to: controller.address)
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        controller.send(Self.event + [0xFF])
        #expect(await owner.packet() == Self.event)
        #expect(await owner.next() == .closed(.garbage))
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        controller.send(Self.event)
        #expect(await owner.packet() == Self.event)
        owner.stop()
        controller.stop()
    }

    @Test(
        "A peer that sends something else or nothing and closes is not a controller after the third time",
        arguments: [false, true]
    )
    func wrongPort(isSilent: Bool) async throws {
        let controller = try ScriptedController()
        let owner = TransportOwner(to: controller.address)
        for attempt in 1...3 {
            #expect(await owner.next() == .opened)
            await controller.nextConnection()
            if isSilent { controller.drop() } else { controller.send(Array("HTTP/1.1 400 Bad Request".utf8)) }
            let code: TransportError.Code = isSilent ? .closed : .garbage
            #expect(await owner.next() == (attempt < 3 ? .closed(code) : .absent(code)))
        }
        owner.stop()
        controller.stop()
    }

    @Test("Data that the peer is slow to read is buffered and arrives whole")
    func backPressure() async throws {
        let controller = try ScriptedController(isReading: false)
        let owner = TransportOwner(to: controller.address)
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        let packet = [0x02, 0x40, 0x00, 0xE8, 0x03] + (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        for _ in 0..<8_000 { owner.send(packet) }
        controller.read()
        let received = await controller.received(8_000 * packet.count)
        #expect(received.count == 8_000 * packet.count)
        #expect(received.prefix(packet.count) == packet[...])
        #expect(received.suffix(packet.count) == packet[...])
        owner.stop()
        controller.stop()
    }

    @Test("A peer that never reads is disconnected")
    func congested() async throws {
        let controller = try ScriptedController(isReading: false)
        let owner = TransportOwner(to: controller.address)
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        let packets = [UInt8](repeating: 2, count: SocketStream.mostBacklog)
        owner.send(packets)
        owner.send(packets)
        #expect(await owner.next() == .closed(.congested))
        owner.stop()
        controller.stop()
    }

    @Test("Nothing arrives while the client pauses, and everything does afterwards")
    func pauses() async throws {
        let controller = try ScriptedController()
        let owner = TransportOwner(to: controller.address)
        #expect(await owner.next() == .opened)
        await controller.nextConnection()
        owner.pause()
        controller.send(Self.event)
        owner.send([7])
        #expect(await controller.received(1) == [7])
        #expect(owner.octetsReceived == 0)
        owner.resume()
        #expect(await owner.packet() == Self.event)
        owner.stop()
        controller.stop()
    }
}
