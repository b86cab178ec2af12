import BLEWire
import Testing

@testable import BLEHost

@Suite("Incoming channel data")
struct IncomingFlowTests {
    static func make(mtu: Int = 100, mps: Int = 30, window: Int = 4) -> IncomingFlow {
        IncomingFlow(mtu: mtu, mps: mps, window: window)
    }

    static let octets = [UInt8](0..<100)

    /// Packets, and what the last of them amounts to.
    static let cases: [([[UInt8]], IncomingFlow.OnReceive)] = [
        ([[0, 0]], .complete([])),
        ([[1, 0, 9]], .complete([9])),
        ([[28, 0] + octets[..<28]], .complete(Array(octets[..<28]))),
        ([[2, 0, 7], [8]], .complete([7, 8])),
        ([[2, 0], [7, 8]], .complete([7, 8])),
        ([[2, 0, 7], []], .incomplete),
        ([[29, 0] + octets[..<28], [28]], .complete(Array(octets[..<29]))),
        (
            [[100, 0] + octets[..<28], Array(octets[28..<58]), Array(octets[58..<88]), Array(octets[88...])],
            .complete(octets)
        ),
        ([[101, 0]], .broken(.sduTooLong)),
        ([[0xFF, 0xFF]], .broken(.sduTooLong)),
        ([[29, 0] + octets[..<29]], .broken(.frameTooLong)),
        ([[60, 0], Array(octets[..<31])], .broken(.frameTooLong)),
        ([[]], .broken(.lengthMissing)),
        ([[1]], .broken(.lengthMissing)),
        ([[1, 0, 1, 2]], .broken(.sduExceeded)),
        ([[3, 0, 1, 2], [3, 4]], .broken(.sduExceeded)),
        ([[0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], .broken(.noCredit)),
    ]

    @Test("Packets are reassembled, and violations of the rules are detected", arguments: cases)
    func receives(packets: [[UInt8]], outcome: IncomingFlow.OnReceive) {
        var flow = Self.make(), last: IncomingFlow.OnReceive?
        for packet in packets {
            #expect(last != .broken(.noCredit))
            last = flow.receive(packet.span)
        }
        #expect(last == outcome)
    }

    @Test("Credits are returned only once data has been consumed")
    func replenishes() {
        var flow = Self.make()
        for _ in 0..<4 { #expect(flow.receive([2, 0, 1, 2].span) == .complete([1, 2])) }
        #expect(flow.credits == 0)
        #expect(flow.replenish() == nil)
        flow.consume(1)
        #expect(flow.replenish() == nil)
        flow.consume(1)
        #expect(flow.replenish() == 1)
        flow.consume(100)
        #expect(flow.replenish() == 3)
        #expect(flow.replenish() == nil)
    }

    @Test("Few credits are not returned as long as the peer still has some")
    func batches() {
        var flow = Self.make(window: 10)
        for count in 1...4 {
            _ = flow.receive([1, 0, 1].span)
            flow.consume(1)
            #expect(flow.replenish() == nil, "after \(count)")
        }
        _ = flow.receive([1, 0, 1].span)
        flow.consume(1)
        #expect(flow.replenish() == 5)
    }

    @Test("An SDU of more packets than the window is received, however small they are")
    func smallPackets() {
        var flow = Self.make(mtu: 100, window: 4)
        #expect(flow.receive([100, 0].span) == .incomplete)
        for octet in 0..<UInt8(99) {
            _ = flow.replenish()
            #expect(flow.receive([octet].span) == .incomplete)
        }
        _ = flow.replenish()
        #expect(flow.receive([99].span) == .complete(Array(0..<100)))
    }

    @Test("Unconsumed data is limited, whatever a peer sends", arguments: UInt64(0)..<16)
    func bounded(seed: UInt64) {
        var random = SeededGenerator(seed: seed), flow = Self.make(), held = 0
        for _ in 0..<1_000 {
            _ = flow.replenish()
            let length = Int.random(in: 0...28, using: &random)
            let packet = UInt16(length).littleEndianOctets + Self.octets[..<length]
            switch flow.receive(packet.span) {
            case .complete(let unit): held += unit.count
            case .incomplete, .broken: break
            }
            #expect(held <= 4 * 30 + 100)
        }
        #expect(flow.credits == 0)
    }
}

@Suite("Outgoing channel data")
struct OutgoingFlowTests {
    static func make(credits: Int, mps: Int = 30, maximumFrame: Int = 247) -> OutgoingFlow {
        OutgoingFlow(mtu: 1_000, mps: mps, credits: credits, maximumFrame: maximumFrame)
    }

    static func drain(_ flow: inout OutgoingFlow) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while let packet = flow.next() {
            packets.append(packet)
            _ = flow.sent()
        }
        return packets
    }

    @Test("An SDU is segmented to the peer's MPS", arguments: [1, 27, 28, 29, 58, 59, 300, 1_000])
    func cuts(length: Int) {
        for mps in [23, 30, 247, 65_533] {
            var flow = Self.make(credits: 1_000, mps: mps), incoming = IncomingFlow(mtu: 1_000, mps: 247, window: 100)
            let unit = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            flow.append(unit)
            let packets = Self.drain(&flow)
            #expect(packets.allSatisfy { $0.count <= min(mps, 247) })
            #expect(packets.dropLast().allSatisfy { $0.count == min(mps, 247) })
            var last: IncomingFlow.OnReceive?
            for packet in packets { last = incoming.receive(packet.span) }
            #expect(last == .complete(unit))
        }
    }

    @Test("Every packet needs one credit, and none waits for more")
    func credits() {
        var flow = Self.make(credits: 2)
        flow.append([UInt8](repeating: 1, count: 100))
        #expect(Self.drain(&flow).count == 2)
        #expect(flow.isStalled)
        #expect(flow.grant(1) == .granted)
        #expect(Self.drain(&flow).count == 1)
        #expect(flow.grant(5) == .granted)
        #expect(Self.drain(&flow).count == 1)
        #expect(flow.credits == 4)
        #expect(flow.isEmpty)
    }

    @Test("More than 65535 credits are an error", arguments: [0, 1, 65_534, 65_535])
    func overflow(credits: Int) {
        var flow = Self.make(credits: credits)
        #expect(flow.grant(0) == .nothing)
        #expect(flow.grant(65_536 - credits) == .overflow)
        #expect(flow.credits == credits)
        if credits < 65_535 { #expect(flow.grant(65_535 - credits) == .granted) }
    }

    @Test("A few packets are passed down at a time, and an SDU counts as sent with its last packet")
    func depth() {
        var flow = Self.make(credits: 100)
        flow.append([UInt8](repeating: 1, count: 150))
        flow.append([2])
        var handed = 0
        while flow.next() != nil { handed += 1 }
        #expect(handed == OutgoingFlow.mostFramesInFlight)
        var sent: [Int] = []
        while !flow.isEmpty {
            sent.append(flow.sent())
            while flow.next() != nil {}
        }
        #expect(sent == [0, 0, 0, 0, 0, 150, 1])
        #expect(flow.queued == 0)
    }
}
