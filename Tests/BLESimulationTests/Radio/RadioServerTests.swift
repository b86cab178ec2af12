import BLEHost
import BLERuntime
import BLESimulation
import BLEWire
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@Suite("Radio server", .timeLimit(.minutes(30)))
struct RadioServerTests {
    /// Starts a host on its own at a controller of `server`.
    static func host(
        at port: UInt16,
        secret: UInt128,
        storage: StateFile? = nil,
        tap: PacketTap? = nil,
        capture: CaptureFile? = nil,
        isWatchable: Bool = false
    ) -> HostRunner {
        let runner = HostRunner(
            Host(
                configuration: Host.Configuration(name: "\(secret)", identifierSecret: secret),
                random: SystemRandomNumberGenerator()
            ),
            transport: SocketTransport(to: .tcp(host: "127.0.0.1", port: port)),
            storage: storage,
            tap: tap,
            capture: capture,
            program: "test",
            isWatchable: isWatchable
        )
        runner.start()
        return runner
    }

    @Test("Two hosts on two ports discover each other and exchange values")
    func meet() async throws {
        let radio = RadioServer(seed: 1)
        let ports = [
            try radio.listen(at: .tcp(host: "127.0.0.1", port: 0)),
            try radio.listen(at: .tcp(host: "127.0.0.1", port: 0)),
        ]
        let hosts = ports.enumerated().map { Self.host(at: $1, secret: UInt128($0 + 1)) }
        let server = EchoServer(on: hosts[0]), client = EchoClient(on: hosts[1], count: 10)
        await waiting(for: client) { $0.isComplete }
        #expect(server.queue.sync { server.written.count } == 10)
        for host in hosts { host.stop() }
        radio.stop()
    }

    @Test("A host that is switched off releases its controller, and takes it again when switched on")
    func power() async throws {
        let radio = RadioServer(seed: 1), queue = DispatchQueue(label: "app")
        let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let host = Self.host(at: port, secret: 1), (states, told) = AsyncStream.makeStream(of: HostState.self)
        let session = host.open(.central, on: queue) { if case .stateChanged(let state) = $0 { told.yield(state) } }
        var heard = states.makeAsyncIterator()
        while await heard.next() != .poweredOn {}
        for _ in 0..<3 {
            host.switchBluetooth(on: false)
            while await heard.next() != .poweredOff {}
            let other = Self.host(at: port, secret: 2), (others, tells) = AsyncStream.makeStream(of: HostState.self)
            let visit = other.open(.central, on: queue) { if case .stateChanged(let state) = $0 { tells.yield(state) } }
            for await state in others where state == .poweredOn { break }
            visit.close()
            other.stop()
            host.switchBluetooth(on: true)
            host.switchBluetooth(on: true)
            while await heard.next() != .poweredOn {}
        }
        session.close()
        host.stop()
        radio.stop()
    }

    @Test("Hosts on a shared port each have their own controller, and discover each other", arguments: [false, true])
    func shared(skipsIdleTime: Bool) async throws {
        let radio = RadioServer(seed: 1, pace: RadioPace(skipsIdleTime: skipsIdleTime))
        let port = try radio.share(.tcp(host: "127.0.0.1", port: 0))
        for secret in [UInt128(1), 3] {
            let hosts = [Self.host(at: port, secret: secret), Self.host(at: port, secret: secret + 1)]
            let server = EchoServer(on: hosts[0]), client = EchoClient(on: hosts[1], count: 20)
            await waiting(for: client) { $0.isComplete }
            #expect(server.queue.sync { server.written.count } == 20)
            for host in hosts { host.stop() }
        }
        radio.stop()
    }

    @Test("An app's response to an event is sent on its own queue, without a thread switch")
    func answering() async throws {
        let radio = RadioServer(seed: 1)
        let first = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let second = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let key = DispatchSpecificKey<Bool>(), queue = DispatchQueue(label: "client")
        queue.setSpecific(key: key, value: true)
        let count = Counter()
        let asking = Self.host(at: second, secret: 2) { record in
            if record.direction == .toController, DispatchQueue.getSpecific(key: key) == true { count.add() }
        }
        let serving = Self.host(at: first, secret: 1)
        let server = EchoServer(on: serving), client = EchoClient(on: asking, count: 50, queue: queue)
        await waiting(for: client) { $0.isComplete }
        #expect(server.queue.sync { server.written.count } == 50)
        #expect(count.value > 0)
        for host in [serving, asking] { host.stop() }
        radio.stop()
    }

    /// How often something happened, on whichever thread.
    private final class Counter: Sendable {
        private let count = Atomic(0)
        func add() { count.add(1, ordering: .relaxed) }
        var value: Int { count.load(ordering: .relaxed) }
    }

    @Test("A capture contains all packets of a host, and its apps' requests and events")
    func captured() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/capture-\(UInt64.random(in: 0 ... .max)).pcapng"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let radio = RadioServer(seed: 1)
        let first = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let second = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let capture = try CaptureFile(path: path) { Issue.record("\($0)") }
        let serving = Self.host(at: first, secret: 1), asking = Self.host(at: second, secret: 2, capture: capture)
        let server = EchoServer(on: serving), client = EchoClient(on: asking, count: 1)
        await waiting(for: client) { $0.isComplete }
        #expect(server.queue.sync { server.written.count } == 1)
        for host in [serving, asking] { host.stop() }
        radio.stop()
        let octets = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let reset: [UInt8] = [0, 0, 0, 0, 0x01, 0x03, 0x0C, 0x00], start = try #require(octets.firstRange(of: reset))
        #expect(start.lowerBound < 200)
        for text in [
            "app 1 receives: didUpdateState", "app 1 requests: scanForPeripherals", "app 1 receives: didConnect",
        ] {
            #expect(octets.firstRange(of: Array(text.utf8)) != nil)
        }
        #expect(octets.firstRange(of: Array("receives: didDiscover ".utf8)) == nil)
    }

    @Test("A watcher of a host receives everything, and one that does not read delays nothing")
    func watched() async throws {
        let radio = RadioServer(seed: 1)
        let first = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let second = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let serving = Self.host(at: first, secret: 1)
        let asking = Self.host(at: second, secret: 2, isWatchable: true), place = try #require(asking.monitorSocket)
        let (items, heard) = AsyncStream.makeStream(of: CaptureReader.Item.self)
        let (attachments, attached) = AsyncStream.makeStream(of: Void.self)
        let watch = HostMonitor(find: { [place] }) { event in
            if case .attached = event { attached.yield() }
            if case .item(let item, _) = event { heard.yield(item) }
        }
        let released = DispatchSemaphore(value: 0)
        let lazy = HostMonitor(find: { [place] }) { event in
            if case .attached = event { attached.yield() }
            released.wait()
        }
        for watch in [watch, lazy] {
            watch.start()
            await attachments.first { _ in true }
        }
        let server = EchoServer(on: serving), client = EchoClient(on: asking, count: 300)
        await waiting(for: client) { $0.isComplete }
        #expect(server.queue.sync { server.written.count } == 300)
        var told: Set<String> = []
        for await item in items {
            switch item {
            case .packet(let record) where record.machine == "tcp:127.0.0.1:\(second)":
                if record.bytes.count > 9, record.bytes[9] == 0x12 { told.insert("write request") }
                told.insert(record.source.program)
            case .comment(let text, let source, _) where source.machine == "tcp:127.0.0.1:\(second)":
                if text.contains("didWriteValue") { told.insert("hears") }
            default: break
            }
            if told.count == 3 { break }
        }
        #expect(told == ["write request", "test", "hears"])
        for _ in 0..<10_000 { released.signal() }
        watch.stop()
        lazy.stop()
        for host in [serving, asking] { host.stop() }
        radio.stop()
    }

    @Test("A host that leaves disconnects its peer, and may return")
    func goes() async throws {
        let radio = RadioServer(seed: 1)
        let first = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let second = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let serving = Self.host(at: first, secret: 1), asking = Self.host(at: second, secret: 2)
        let server = EchoServer(on: serving), client = EchoClient(on: asking, count: 1, reconnects: true)
        await waiting(for: client) { $0.isComplete }
        #expect(server.queue.sync { server.subscribers.count } == 1)
        serving.stop()
        await waiting(for: client) { $0.lostConnections == 1 }
        let again = Self.host(at: first, secret: 1)
        let returned = EchoServer(on: again)
        await waiting(for: client) { $0.connections == 2 }
        #expect(returned.queue.sync { returned.states.last } == .poweredOn)
        asking.stop()
        again.stop()
        radio.stop()
    }

    @Test("When the socket is lost the state is resetting, then unsupported, and powered on once it is back")
    func lost() async throws {
        let radio = RadioServer(seed: 1)
        let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let host = Self.host(at: port, secret: 1)
        let app = SeamApp()
        app.start(.central, on: host)
        await waiting(for: app) { $0.states == [.poweredOn] }
        radio.stop()
        await waiting(for: app) { $0.states == [.poweredOn, .resetting, .unsupported] }
        let again = RadioServer(seed: 1)
        try again.listen(at: .tcp(host: "127.0.0.1", port: port))
        await waiting(for: app) { $0.states == [.poweredOn, .resetting, .unsupported, .poweredOn] }
        host.stop()
        again.stop()
    }

    @Test("A second host on a port is rejected, and accepted once the first has left")
    func second() async throws {
        let refused = Locked<[UInt16]>([])
        let radio = RadioServer(seed: 1, refused: { port in refused.withLock { $0.append(port) } })
        let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let first = Self.host(at: port, secret: 1)
        let holder = SeamApp(), visitor = SeamApp()
        holder.start(.central, on: first)
        await waiting(for: holder) { $0.states == [.poweredOn] }
        let other = Self.host(at: port, secret: 2)
        visitor.start(.central, on: other)
        await waiting(for: visitor) { $0.states.last == .unsupported }
        #expect(holder.queue.sync { holder.states } == [.poweredOn])
        #expect(refused.withLock { $0 } == [port])
        first.stop()
        await waiting(for: visitor) { $0.states.last == .poweredOn }
        other.stop()
        radio.stop()
    }

    /// The addresses of the two controllers of a server, as they tell their hosts.
    private func addresses(seed: UInt64) async throws -> [DeviceAddress] {
        let log = Mutex<[[UInt8]]>([]),
            radio = RadioServer(seed: seed) { record in log.withLock { $0.append(record.bytes) } }
        var hosts: [HostRunner] = []
        for _ in 0..<2 {
            let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0)), app = SeamApp()
            hosts.append(Self.host(at: port, secret: 1))
            app.start(.central, on: hosts[hosts.count - 1])
            await waiting(for: app) { $0.states == [.poweredOn] }
        }
        for host in hosts { host.stop() }
        radio.stop()
        return log.withLock { $0 }.compactMap { packet in
            guard packet.first == HCI.PacketType.event.wire,
                case .commandComplete(let answer) = try? HCIEventPacket(decoding: Array(packet.dropFirst())),
                answer.opcode == .readBDADDR
            else { return nil }
            return try? answer.returned(by: HCI.ReadBDADDR.self).address
        }
    }

    @Test("Controllers have different addresses, which change between runs unless the seed is the same")
    func addresses() async throws {
        let first = try await addresses(seed: 1), again = try await addresses(seed: 1)
        let other = try await addresses(seed: 2)
        #expect(first == again)
        #expect(Set(first + other).count == 4)
        for address in first { #expect(address.value >> 40 & 3 == 2, "\(address) is of one device and locally given") }
    }

    @Test("Peers on a virtual radio are not stored")
    func forgets() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/radio-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/host.json", radio = RadioServer(seed: 1)
        let ports = [
            try radio.listen(at: .tcp(host: "127.0.0.1", port: 0)),
            try radio.listen(at: .tcp(host: "127.0.0.1", port: 0)),
        ]
        let storage = StateFile(path: path, freshSecret: 7)
        let hosts = [Self.host(at: ports[0], secret: 1), Self.host(at: ports[1], secret: 2, storage: storage)]
        let server = EchoServer(on: hosts[0]), client = EchoClient(on: hosts[1], count: 3)
        await waiting(for: client) { $0.isComplete }
        #expect(server.queue.sync { server.written.count } == 3)
        for host in hosts { host.stop() }
        radio.stop()
        #expect(storage.peers.isEmpty)
        #expect(StateFile(path: path, freshSecret: 8).peers.isEmpty)
    }

    @Test("An advertiser whose reports take longer than its interval does not keep the server from serving others")
    func endlessReports() throws {
        let radio = RadioServer(seed: 1, pace: RadioPace(skipsIdleTime: true))
        let ports = try (0..<3).map { _ in try radio.listen(at: .tcp(host: "127.0.0.1", port: 0)) }
        let clients = try ports.map { try RadioClient(at: $0) }
        for client in clients { #expect(client.reset()) }
        #expect(clients[0].command(0x0C01, [UInt8](repeating: 0xFF, count: 8)) == 0)
        #expect(clients[0].command(0x2001, [UInt8](repeating: 0xFF, count: 8)) == 0)
        #expect(clients[0].command(0x2041, [0, 0, 1, 0, 0x10, 0, 0x10, 0]) == 0)
        #expect(clients[0].command(0x2042, [1, 0, 0, 0, 0, 0]) == 0)
        // Advertisements of 1,650 octets on the Coded PHY every 20 ms.
        let interval: [UInt8] = [0x20, 0, 0], noPeer = [UInt8](repeating: 0, count: 7)
        let parameters = [0, 0, 0] + interval + interval + [7, 0] + noPeer + [0, 0x7F, 1, 0, 3, 1, 0]
        #expect(clients[1].command(0x2036, parameters) == 0)
        for part in 0..<7 as Range<UInt8> {
            let count: UInt8 = part == 6 ? 144 : 251, operation: UInt8 = part == 0 ? 1 : part == 6 ? 2 : 0
            let data = [0, operation, 1, count] + [UInt8](repeating: 0, count: Int(count))
            #expect(clients[1].command(0x2037, data) == 0)
        }
        #expect(clients[1].command(0x2039, [1, 1, 0, 0, 0, 0]) == 0)
        #expect(clients[0].receives(event: 0x3E))
        #expect(clients[2].reset())
        radio.stop()
    }

    @Test("A port in use is refused")
    func taken() throws {
        let radio = RadioServer(seed: 1)
        let port = try radio.listen(at: .tcp(host: "127.0.0.1", port: 0))
        let other = RadioServer(seed: 1)
        #expect(throws: TransportError.self) { try other.listen(at: .tcp(host: "127.0.0.1", port: port)) }
        radio.stop()
    }
}
