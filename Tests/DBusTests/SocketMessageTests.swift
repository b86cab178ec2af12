import BLERuntime
import Glibc
import Testing

@testable import DBus

@Suite("Socket messages with file descriptors")
struct SocketMessageTests {
    /// Returns two connected stream sockets.
    private static func sockets() throws -> [FileDescriptor] {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        try #require(socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0)
        return ends.map { FileDescriptor($0) }
    }

    @Test("A descriptor arrives with the octets that it was sent with, and later octets are read separately")
    func barrier() throws {
        let pair = try Self.sockets(), passed = try Self.sockets()
        #expect(send(pair[0].raw, [1, 2] as [UInt8], 2, 0) == 2)
        #expect(SocketMessage.send([3, 4], passing: passed[0], to: pair[0].raw) == 2)
        #expect(send(pair[0].raw, [5] as [UInt8], 1, 0) == 1)
        var buffer = [UInt8](repeating: 0, count: 64)
        let first = SocketMessage.receive(into: &buffer, from: pair[1].raw)
        #expect(first.count == 4 && buffer[..<4] == [1, 2, 3, 4])
        let received = try #require(first.descriptors.first)
        #expect(first.descriptors.count == 1 && received.raw != passed[0].raw)
        #expect(fcntl(received.raw, F_GETFD) & FD_CLOEXEC != 0)
        #expect(send(received.raw, [9] as [UInt8], 1, 0) == 1)
        #expect(recv(passed[1].raw, &buffer, 1, 0) == 1 && buffer[0] == 9)
        let second = SocketMessage.receive(into: &buffer, from: pair[1].raw)
        #expect(second.count == 1 && buffer[0] == 5 && second.descriptors.isEmpty)
        let nothing = SocketMessage.receive(into: &buffer, from: pair[1].raw)
        #expect(nothing.count == -1 && errno == EAGAIN)
    }

    @Test("A received descriptor is closed when it is released")
    func release() throws {
        let pair = try Self.sockets()
        var passed = try Self.sockets()
        let other = passed.removeLast()
        #expect(SocketMessage.send([1], passing: passed[0], to: pair[0].raw) == 1)
        passed = []
        var buffer = [UInt8](repeating: 0, count: 8)
        do {
            let received = SocketMessage.receive(into: &buffer, from: pair[1].raw)
            #expect(received.descriptors.count == 1)
            #expect(recv(other.raw, &buffer, 1, 0) == -1, "the received descriptor is open")
        }
        #expect(recv(other.raw, &buffer, 1, 0) == 0, "the last descriptor of the socket is closed")
    }
}

@Suite("Descriptors in a D-Bus conversation")
struct PassedDescriptorTests {
    /// Returns a conversation with a call whose reply has serial number 2.
    private func begun(passesDescriptors: Bool = true) throws -> BusConversation {
        var conversation = BusConversation(user: 0, receivesCalls: true, passesDescriptors: passesDescriptors)
        _ = try conversation.receive(TestBus.accepted)
        if passesDescriptors { _ = try conversation.receive(Array("AGREE_UNIX_FD\r\n".utf8)) }
        for _ in 0..<3 {
            let call = BusMessage(kind: .call, path: "/a", interface: "o.N", member: "M", destination: ":1.7")
            _ = try conversation.call(call)
        }
        return conversation
    }

    private static func reply(to serial: UInt32, descriptors: UInt32?) -> BusMessage {
        var reply = BusMessage(kind: .reply, serial: 5, replySerial: serial, sender: ":1.7")
        reply.descriptors = descriptors
        reply.body = [.descriptor(0), .octets([UInt8](repeating: 1, count: 40))]
        return reply
    }

    private static func descriptor() throws -> FileDescriptor {
        let raw = open("/dev/null", O_RDONLY | O_CLOEXEC)
        try #require(raw >= 0)
        return FileDescriptor(raw)
    }

    /// Returns the descriptors of each reply in `events`.
    private func descriptors(in events: [BusConversation.Event]) -> [[FileDescriptor]] {
        events.compactMap { if case .replied(_, _, let descriptors) = $0 { descriptors } else { nil } }
    }

    @Test("A reply has the descriptors that come with its first octets", arguments: [1, 30, 1_000])
    func reply(first: Int) throws {
        var conversation = try begun()
        let descriptor = try Self.descriptor()
        let plain = Self.reply(to: 2, descriptors: nil).octets, octets = Self.reply(to: 3, descriptors: 1).octets
        let events =
            try conversation.receive(plain + octets.prefix(first), with: [descriptor])
            + conversation.receive(octets.dropFirst(first) + Self.reply(to: 4, descriptors: nil).octets)
        #expect(descriptors(in: events) == [[], [descriptor], []])
    }

    /// Messages with a descriptor that belongs to no reply.
    private enum Message: CaseIterable { case call, unrequested, malformed, miscounted, tooLong }

    @Test(
        "A descriptor that belongs to no reply is closed, and the next reply does not get it",
        arguments: Message.allCases
    )
    private func unclaimed(message: Message) throws {
        var conversation = try begun()
        var octets = Self.reply(to: 2, descriptors: 1).octets
        switch message {
        case .call:
            var call = BusMessage(kind: .call, serial: 9, path: "/a", interface: "o.N", member: "M", sender: ":1.8")
            (call.descriptors, call.body) = (1, [.descriptor(0)])
            octets = call.octets
        case .unrequested: octets = Self.reply(to: 77, descriptors: 1).octets
        case .malformed:
            let index = try #require(octets.indices.first { octets[$0...].starts(with: [7, 1, UInt8(ascii: "s"), 0]) })
            octets[index + 2] = UInt8(ascii: "z")
        case .miscounted: octets = Self.reply(to: 2, descriptors: 2).octets
        case .tooLong:
            var reply = Self.reply(to: 2, descriptors: 1)
            reply.body = [.octets([UInt8](repeating: 0, count: BusMessage.limit))]
            octets = reply.octets
        }
        weak var passed: FileDescriptor?
        var events: [BusConversation.Event] = []
        do {
            let descriptor = try Self.descriptor()
            passed = descriptor
            events = try conversation.receive(Array(octets.prefix(200)), with: [descriptor])
        }
        events += try conversation.receive(octets.dropFirst(200) + Self.reply(to: 3, descriptors: 1).octets)
        #expect(passed == nil, "the descriptor is closed")
        #expect(descriptors(in: events).allSatisfy(\.isEmpty) && !events.isEmpty)
    }

    @Test("The number of descriptors that wait for their message is limited")
    func limit() throws {
        var conversation = try begun()
        let octets = Self.reply(to: 2, descriptors: 1).octets
        weak var first: FileDescriptor?
        weak var last: FileDescriptor?
        do {
            let descriptors = [try Self.descriptor(), try Self.descriptor()]
            (first, last) = (descriptors[0], descriptors[1])
            let all = [FileDescriptor](repeating: descriptors[0], count: SocketMessage.descriptorLimit)
            _ = try conversation.receive(Array(octets.prefix(16)), with: all)
            _ = try conversation.receive([octets[16]], with: [descriptors[1]])
        }
        #expect(first != nil && last == nil)
        let events = try conversation.receive(Array(octets.dropFirst(17)))
        #expect(descriptors(in: events) == [[]] && first == nil)
    }

    @Test("A conversation that does not pass descriptors closes those that it receives")
    func unwanted() throws {
        var conversation = try begun(passesDescriptors: false)
        let octets = Self.reply(to: 2, descriptors: 1).octets
        #expect(descriptors(in: try conversation.receive(octets, with: [try Self.descriptor()])) == [[]])
    }
}
