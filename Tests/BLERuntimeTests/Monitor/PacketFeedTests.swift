import BLEWire
import Testing

@testable import BLERuntime

@Suite("Monitor feed")
struct PacketFeedTests {
    static func feed(limit: Int = 100) -> PacketFeed {
        PacketFeed(beginning: [0xBE], limit: limit) { [0xFF, UInt8($0)] }
    }

    @Test("Records that fit come out once and in order, after the header")
    func order() {
        var feed = Self.feed()
        for number in UInt8(1)...3 { feed.add([number], pending: 0) }
        #expect(feed.take(pending: 0) == [0xBE, 1, 2, 3])
        #expect(feed.take(pending: 0) == [])
        feed.add([4], pending: 0)
        #expect(feed.take(pending: 0) == [4])
    }

    @Test("Records that do not fit are dropped, and reported as lost before anything else once half is free")
    func losses() {
        var feed = Self.feed()
        let record = [UInt8](repeating: 7, count: 33)
        for _ in 0..<5 { feed.add(record, pending: 0) }
        #expect(feed.take(pending: 0) == [0xBE] + record + record + record)
        // The small record would fit, but then nobody would know that something is missing before it.
        feed.add([1], pending: 51)
        #expect(feed.take(pending: 51) == [])
        #expect(feed.take(pending: 50) == [0xFF, 3])
        feed.add([2], pending: 98)
        feed.add([3], pending: 99)
        feed.add([4], pending: 100)
        #expect(feed.take(pending: 0) == [2, 0xFF, 5])
    }

    @Test("A record that fits exactly is taken, and one octet more is not", arguments: [0, 40, 98])
    func edge(pending: Int) {
        var feed = Self.feed()
        feed.add([UInt8](repeating: 7, count: 99 - pending), pending: pending)
        #expect(feed.take(pending: 100).count == 100 - pending)
        feed.add([UInt8](repeating: 7, count: 101 - pending), pending: pending)
        #expect(feed.take(pending: 100) == [])
    }
}

@Suite("Monitor sockets")
struct HostSocketTests {
    @Test("Only a name in the canonical form is parsed")
    func names() {
        let socket = HostSocket(process: 4_711, number: 2)
        #expect(socket.name == "corebluetooth-linux/monitor/4711/2")
        #expect(HostSocket(name: socket.name) == socket)
        for suffix in [
            "", "4711", "4711/", "/1", "0/1", "-4/1", "4711/0", "4711/65", "4711/1/1", "04711/1", "x/1", "1/+1",
        ] {
            #expect(HostSocket(name: "corebluetooth-linux/monitor/\(suffix)") == nil, "\(suffix)")
        }
        #expect(HostSocket(name: "elsewhere/4711/2") == nil)
    }

    @Test("Listening sockets are found in the kernel's table, in order, whatever else it contains")
    func table() {
        let line = "0000000082ef5b3a: 00000002 00000000 00010000 0001 01"
        let table = """
            Num       RefCount Protocol Flags    Type St Inode Path
            \(line) 40321 @corebluetooth-linux/monitor/12/1
            \(line)    21 @corebluetooth-linux/monitor/9/2
            \(line) 40322 /run/corebluetooth-linux/monitor/13/1
            \(line) 40323 @corebluetooth-linux/monitor/14/1 or so
            00000000bd2d4c51: 00000003 00000000 00000000 0001 03 40325 @corebluetooth-linux/monitor/15/1
            \(line) 40324
            \(line) 40326 @corebluetooth-linux/monitor/9/1

            nonsense
            """
        let expected = [
            HostSocket(process: 9, number: 1), HostSocket(process: 9, number: 2), HostSocket(process: 12, number: 1),
        ]
        #expect(HostSocket.listening(in: table) == expected)
        #expect(HostSocket.listening(in: "") == [])
        let many = (1...300).map { "\(line) 1 @corebluetooth-linux/monitor/\($0)/1" }.joined(separator: "\n")
        #expect(HostSocket.listening(in: many).count == 256)
    }

    @Test(
        "A host is shown to its own user and to root, but not to users that the kernel cannot name",
        arguments: [
            (1_000, 1_000, true), (0, 1_000, true), (0, 0, true), (1_001, 1_000, false), (1_000, 0, false),
            (65_534, 65_534, false), (0, 65_534, true),
        ] as [(UInt32, UInt32, Bool)]
    )
    func users(peer: UInt32, owner: UInt32, isShown: Bool) {
        #expect(HostSocket.shows(to: peer, owner: owner) == isShown)
    }
}
