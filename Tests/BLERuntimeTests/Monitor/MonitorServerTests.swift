import BLEWire
import Glibc
import Synchronization
import Testing

@testable import BLERuntime

@Suite("Watching hosts", .timeLimit(.minutes(30)))
struct MonitorServerTests {
    static let source = PacketSource(program: "app 7", machine: "hci0")
    static let report = [0x04, 0x3E, 0x00] + [UInt8](repeating: 9, count: 250)

    /// A door on a loop of its own, which shows packets as the turns of a host do.
    final class House: @unchecked Sendable {
        let loop = EventLoop("test-host")
        private let kept = Locked<MonitorServer?>(nil)
        let socket: HostSocket

        init(admits: @escaping @Sendable (UInt32) -> Bool = { _ in true }) throws {
            let changes = AtomicCount()
            let door = MonitorServer(to: source, on: loop, admits: admits) { changes.add() }
            count = changes
            socket = try #require(door.socket)
            kept.withLock { $0 = door }
            loop.start { [weak self] in
                self?.kept.withLock { $0 }?.turnEnded()
                return nil
            }
        }

        private let count: AtomicCount
        var changed: Int { count.value }

        /// Does something with the door on its thread.
        func sync<Value: Sendable>(_ body: @escaping @Sendable (MonitorServer) -> Value) throws -> Value {
            let door = try #require(kept.withLock { $0 })
            return loop.sync { body(door) }
        }

        func release() { kept.withLock { $0 = nil } }
    }

    final class AtomicCount: Sendable {
        private let count = Atomic(0)
        func add() { count.add(1, ordering: .relaxed) }
        var value: Int { count.load(ordering: .relaxed) }
    }

    /// A monitor that reads when it is told to, and never by itself.
    struct Lens {
        let descriptor: FileDescriptor

        init(at socket: HostSocket) throws {
            descriptor = try socket.address.makeSocket { (raw, address, length) throws(TransportError) in
                #expect(connect(raw, address, length) == 0)
            }
        }

        /// Waits for the next octets; none at the end.
        func read() -> [UInt8] {
            var question = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
            poll(&question, 1, -1)
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(descriptor.raw, &buffer, buffer.count, 0)
            return Array(buffer.prefix(max(0, count)))
        }

        /// Reads until `isEnough`, or the end.
        func items(until isEnough: (CaptureReader.Item) -> Bool) throws -> [CaptureReader.Item] {
            var reader = CaptureReader(), items: [CaptureReader.Item] = []
            while true {
                let octets = read()
                if octets.isEmpty { return items }
                reader.append(octets)
                while let item = try reader.next() {
                    items.append(item)
                    if isEnough(item) { return items }
                }
            }
        }
    }

    static func record(_ bytes: [UInt8], at time: Instant = Instant()) -> PacketRecord {
        PacketRecord(source: source, direction: .toHost, time: time, bytes: bytes)
    }

    /// Lets the door see who has come.
    static func settle(_ house: House) throws {
        for _ in 0..<3 { _ = try house.sync { _ in } }
    }

    @Test("A watcher receives everything from then on, with the host's identity and the apps' requests")
    func showing() throws {
        let house = try House()
        try house.sync { door in
            #expect(!door.isWatched)
            door.send(Self.record([1, 2]))
            door.turnEnded()
        }
        let lens = try Lens(at: house.socket)
        try Self.settle(house)
        #expect(try house.sync { $0.isWatched } && house.changed == 1)
        try house.sync { door in
            door.send("app 1 requests: BLEHost.scan", at: Instant())
            door.send(Self.record([4, 0x0E, 0]))
            door.turnEnded()
        }
        let items = try lens.items { if case .packet = $0 { true } else { false } }
        guard items.count == 2, case .comment(let text, Self.source, let time) = items[0],
            case .packet(let record) = items[1]
        else {
            Issue.record("\(items)")
            return
        }
        #expect(text == "app 1 requests: BLEHost.scan" && record.time == time)
        #expect(record.source == Self.source && record.bytes == [4, 0x0E, 0] && record.direction == .toHost)
    }

    @Test("A host is found in the kernel's table as long as it can be watched")
    func found() throws {
        let house = try House()
        #expect(HostSocket.listening.contains(house.socket))
        let listener = try #require(Self.listeners(at: house.socket).first)
        try house.sync { $0.close() }
        try Self.settle(house)
        #expect(!Self.listeners(at: house.socket).contains(listener))
    }

    /// The kernel's numbers of what listens there: another test may do so as soon as one has ended.
    private static func listeners(at socket: HostSocket) -> [Substring] {
        SystemFile.text(of: "/proc/net/unix", most: 16 << 20).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard let name = fields.last, name == "@" + socket.name else { return nil }
            return fields[6]
        }
    }

    @Test("Each host of a process has its own socket, which closes when the host is released")
    func several() throws {
        let houses = try (0..<3).map { _ in try House() }
        #expect(Set(houses.map(\.socket)).count == 3)
        let lens = try Lens(at: houses[0].socket)
        try Self.settle(houses[0])
        houses[0].release()
        #expect(try lens.items { _ in false } == [])
    }

    @Test("The first four watchers receive data, and a fifth only when one of them leaves")
    func four() throws {
        let house = try House()
        var lenses = try (0..<4).map { _ in try Lens(at: house.socket) }
        try Self.settle(house)
        let fifth = try Lens(at: house.socket)
        #expect(fifth.read() == [])
        lenses.removeFirst()
        while house.changed < 5 { try Self.settle(house) }
        let sixth = try Lens(at: house.socket)
        try Self.settle(house)
        try house.sync { $0.send(Self.record([4])) }
        try house.sync { $0.turnEnded() }
        for lens in lenses + [sixth] {
            #expect(try lens.items { if case .packet = $0 { true } else { false } }.count == 1)
        }
    }

    @Test("A watcher of a user that is not admitted receives nothing")
    func stranger() throws {
        let asked = Locked<[UInt32]>([])
        let house = try House { user in
            asked.withLock { $0.append(user) }
            return false
        }
        #expect(try Lens(at: house.socket).read() == [])
        #expect(try !house.sync { $0.isWatched } && asked.withLock { $0 } == [geteuid()])
    }

    @Test("A watcher that never reads costs at most a megabyte and no delay, and learns how much it missed")
    func slow() throws {
        let house = try House(), lens = try Lens(at: house.socket)
        try Self.settle(house)
        let count = 40_000
        try house.sync { door in
            for number in 0..<count {
                door.send(Self.record(Self.report + [UInt8(truncatingIfNeeded: number)]))
                if number % 10 == 0 { door.turnEnded() }
            }
            door.turnEnded()
        }
        var shown = 0, lost = 0, reader = CaptureReader()
        while shown + lost < count {
            reader.append(lens.read())
            while let item = try reader.next() {
                if case .lost(let count, _) = item { lost += count } else { shown += 1 }
            }
        }
        #expect(shown + lost == count)
        // 1 MiB here and what the system holds for a socket, in records of 300 octets.
        #expect(shown < 10_000 && lost > 30_000)
    }

    @Test("A watch attaches to new hosts, reads them to their end, and reports those that refuse")
    func watch() async throws {
        let (events, heard) = AsyncStream.makeStream(of: HostMonitor.Event.self)
        let sockets = Locked<[HostSocket]>([])
        let watch = HostMonitor(find: { sockets.withLock { $0 } }) { heard.yield($0) }
        watch.start()
        let house = try House()
        let crowd = try House(), lenses = try (0..<4).map { _ in try Lens(at: crowd.socket) }
        try Self.settle(crowd)
        sockets.withLock { $0 = [house.socket, crowd.socket] }
        var told: [String] = []
        for await event in events {
            switch event {
            case .attached(let socket):
                told.append("attached \(socket == house.socket)")
                try house.sync { $0.send(Self.record([4, 0x0E, 0])) }
                try house.sync { $0.turnEnded() }
            case .refused(let socket, _): told.append("refused \(socket == crowd.socket)")
            case .item(.packet(let record), let socket):
                told.append("packet \(record.bytes) \(socket == house.socket)")
                try house.sync { $0.close() }
            case .item: told.append("something else")
            case .gone(let socket, let failure):
                told.append("gone \(socket == house.socket) \(failure == nil)")
            }
            if told.count == 4 { break }
        }
        let expected = ["attached true", "packet [4, 14, 0] true", "gone true true"]
        #expect(told.filter { $0 != "refused true" } == expected && told.contains("refused true"))
        watch.stop()
        withExtendedLifetime(lenses) {}
    }

    @Test("A socket that does not send a capture is dropped once")
    func nonsense() async throws {
        let loop = EventLoop("test-liar"), place = HostSocket(process: getpid(), number: 64)
        loop.start()
        let streams = Locked<[SocketStream]>([])
        let listener = try SocketListener(at: place.address, on: loop) { stream in
            stream.start { _ in
            } closed: { _ in
            }
            stream.write(Array("nonsense".utf8).span)
            streams.withLock { $0.append(stream) }
        }
        let (events, heard) = AsyncStream.makeStream(of: HostMonitor.Event.self)
        let (looks, looked) = AsyncStream.makeStream(of: Void.self)
        let watch = HostMonitor {
            looked.yield()
            return [place]
        } report: {
            heard.yield($0)
        }
        watch.start()
        var told = events.makeAsyncIterator()
        while let event = await told.next() {
            guard case .gone(_, let failure) = event else { continue }
            #expect(failure?.description.contains("neither pcapng nor btsnoop") == true)
            break
        }
        var more = looks.makeAsyncIterator()
        for _ in 0..<4 { await more.next() }
        watch.stop()
        heard.finish()
        #expect(await told.next() == nil)
        #expect(!streams.withLock { $0.isEmpty })
        withExtendedLifetime(listener) {}
    }
}
