import BLEWire
import Testing

@testable import BLEHost

@Suite("Command queue")
struct CommandQueueTests {
    let start = Instant()

    func command(_ opcode: HCI.Opcode) -> CommandQueue.Command {
        .init(opcode: opcode, packet: [UInt8(opcode.wire & 0xFF)])
    }

    func make(_ opcodes: [HCI.Opcode]) -> CommandQueue {
        var queue = CommandQueue(limit: 4)
        queue.reset(at: start)
        for opcode in opcodes { _ = queue.submit(command(opcode), for: .setup, at: start) }
        return queue
    }

    func sent(_ queue: inout CommandQueue) -> Int {
        var count = 0
        while queue.next(at: start) != nil { count += 1 }
        return count
    }

    @Test("One command is sent at first, and then as many as the controller allows")
    func credits() {
        var queue = make([.reset, .readRSSI, .readBDADDR, .leRand])
        #expect(sent(&queue) == 1)
        #expect(queue.answered(.reset, allowed: 0, at: start) == .answered(.setup))
        #expect(sent(&queue) == 0)
        #expect(queue.answered(.none, allowed: 2, at: start) == .credits)
        #expect(sent(&queue) == 2)
        #expect(queue.answered(.readRSSI, allowed: 1, at: start) == .answered(.setup))
        #expect(sent(&queue) == 1)
    }

    @Test("Each command is answered once, and unexpected responses are ignored")
    func answers() {
        var queue = make([.reset])
        #expect(sent(&queue) == 1)
        #expect(queue.answered(.readRSSI, allowed: 1, at: start) == .unexpected)
        #expect(queue.answered(.reset, allowed: 1, at: start) == .answered(.setup))
        #expect(queue.answered(.reset, allowed: 1, at: start) == .unexpected)
    }

    @Test("Responses may come in another order than the commands")
    func order() {
        var queue = make([])
        #expect(queue.answered(.none, allowed: 2, at: start) == .credits)
        let accepted = [
            queue.submit(command(.readRSSI), for: .scanner, at: start),
            queue.submit(command(.leRand), for: .initiator, at: start),
        ]
        #expect(accepted == [true, true])
        #expect(sent(&queue) == 2)
        #expect(queue.answered(.leRand, allowed: 1, at: start) == .answered(.initiator))
        #expect(queue.answered(.readRSSI, allowed: 1, at: start) == .answered(.scanner))
    }

    @Test("A response is overdue after two seconds, and so is permission to send")
    func deadline() {
        var queue = make([.reset, .readRSSI])
        #expect(sent(&queue) == 1)
        #expect(queue.deadline == start + .seconds(2))
        #expect(queue.expired(at: start + .milliseconds(1_999)) == nil)
        #expect(queue.expired(at: start + .seconds(2)) == .reset)
        #expect(queue.answered(.reset, allowed: 0, at: start + .seconds(1)) == .answered(.setup))
        #expect(queue.deadline == start + .seconds(3))
        #expect(queue.expired(at: start + .seconds(3)) == .readRSSI)
    }

    static let patient: [CommandQueue.Owner] = [
        .setup, .scanner, .initiator, .advertiser(.first), .disconnection(.lowest),
    ]
    static let others: [CommandQueue.Owner] = [.link(.lowest), .linkRequest(.lowest, 1)]

    @Test("Commands beyond the limit are refused, except indispensable ones")
    func limit() {
        for (owners, isAccepted) in [(Self.patient, true), (Self.others, false)] {
            var queue = make([.readRSSI, .readRSSI, .readRSSI, .readRSSI])
            for owner in owners {
                let accepted = queue.submit(command(.readRSSI), for: owner, at: start)
                #expect(accepted == isAccepted)
            }
        }
    }

    @Test("Only commands not yet sent about a lost link are dropped")
    func forgetting() throws {
        let other = try #require(ConnectionHandle(wire: 1))
        var queue = make([.reset])
        for owner in [CommandQueue.Owner.link(.lowest), .disconnection(.lowest), .link(other), .scanner] {
            _ = queue.submit(command(.readRSSI), for: owner, at: start)
        }
        queue.removeCommands(of: .lowest)
        #expect(sent(&queue) == 1)
        #expect(queue.answered(.reset, allowed: 4, at: start) == .answered(.setup))
        #expect(sent(&queue) == 2)
        #expect(queue.answered(.readRSSI, allowed: 4, at: start) == .answered(.link(other)))
        #expect(queue.answered(.readRSSI, allowed: 4, at: start) == .answered(.scanner))
    }
}
