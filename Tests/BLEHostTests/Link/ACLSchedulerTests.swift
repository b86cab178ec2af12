import BLEWire
import Testing

@testable import BLEHost

@Suite("ACL scheduler")
struct ACLSchedulerTests {
    let first = ConnectionHandle(wire: 1) ?? .lowest
    let second = ConnectionHandle(wire: 2) ?? .lowest

    /// An H4 packet that went out, and the receipt of what was complete with it.
    struct Sent {
        let packet: [UInt8]
        let receipt: SendReceipt?

        init(_ payload: OutgoingPayload, of link: ConnectionHandle, receipt: SendReceipt?) {
            var packets = OutgoingPackets()
            packets.append(payload, 0..<payload.length, on: .attribute, of: link)
            (packet, self.receipt) = (packets.octets, receipt)
        }

        init(_ fragment: ACLScheduler.Fragment) {
            var packets = OutgoingPackets()
            packets.append(fragment.payload, fragment.range, on: fragment.channel, of: fragment.link)
            (packet, receipt) = (packets.octets, fragment.receipt)
        }
    }

    func make(size: Int = 27, count: Int) -> ACLScheduler {
        var scheduler = ACLScheduler(queueLimit: 4)
        scheduler.reset(size: size, count: count)
        scheduler.linkUp(first)
        scheduler.linkUp(second)
        return scheduler
    }

    /// Hands a packet over and returns it as a fragment if it may go out at once.
    func submit(
        _ payload: [UInt8],
        of link: ConnectionHandle,
        receipt: SendReceipt? = nil,
        to scheduler: inout ACLScheduler
    ) -> [Sent] {
        let payload = OutgoingPayload(payload)
        guard scheduler.submit(payload, on: .attribute, of: link, receipt: receipt) == .passed else { return [] }
        return [Sent(payload, of: link, receipt: receipt)]
    }

    /// Takes what may go out, after what went at once.
    func drain(
        _ scheduler: inout ACLScheduler,
        after first: [Sent] = []
    ) -> [Sent] {
        var fragments = first
        while let fragment = scheduler.next() { fragments.append(Sent(fragment)) }
        return fragments
    }

    @Test("A packet is split into fragments of the buffer size", arguments: [1, 22, 23, 24, 49, 50, 51, 300])
    func fragments(length: Int) {
        var scheduler = make(count: 100)
        let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let passed = submit(payload, of: first, receipt: .init(rawValue: 9), to: &scheduler)
        #expect(passed.count == (length + 4 <= 27 ? 1 : 0))
        let fragments = drain(&scheduler, after: passed)
        #expect(fragments.count == (length + 4 + 26) / 27)
        let whole = fragments.flatMap { $0.packet.dropFirst(5) }
        #expect(whole == UInt16(length).littleEndianOctets + [4, 0] + payload)
        for (index, fragment) in fragments.enumerated() {
            #expect(fragment.packet.count <= 5 + 27)
            #expect(fragment.packet[0] == 2)
            #expect(fragment.packet[1] == 1)
            #expect(fragment.packet[2] == (index == 0 ? 0x00 : 0x10))
            #expect(Int(fragment.packet[3]) == fragment.packet.count - 5)
            #expect((fragment.receipt != nil) == (index == fragments.count - 1))
        }
    }

    @Test("Pairing packets count as sent once the last of them was sent, whatever waits on other channels")
    func pairing() {
        var scheduler = make(count: 2)
        #expect(scheduler.hasSentPairing(first))
        _ = submit([1], of: first, to: &scheduler)
        let last = scheduler.submit([2], on: .securityManager, of: first, receipt: nil)
        #expect(last != .queued && !scheduler.hasSentPairing(first) && scheduler.hasSentPairing(second))
        #expect(scheduler.submit([3], on: .attribute, of: first, receipt: nil) == .queued)
        #expect(scheduler.completed(1, on: first) == .freed)
        #expect(drain(&scheduler).count == 1 && !scheduler.hasSentPairing(first))
        #expect(scheduler.completed(1, on: first) == .freed)
        #expect(scheduler.hasSentPairing(first) && !scheduler.isIdle(first))
        scheduler.linkDown(first)
        #expect(!scheduler.hasSentPairing(first))
    }

    @Test("A pairing packet that waits for a buffer does not count as sent")
    func pairingThatWaits() {
        var scheduler = make(count: 1)
        _ = submit([1], of: first, to: &scheduler)
        let long = [UInt8](repeating: 7, count: 65)
        #expect(scheduler.submit(OutgoingPayload(long), on: .securityManager, of: first, receipt: nil) == .queued)
        for _ in 0..<3 {
            #expect(!scheduler.hasSentPairing(first))
            #expect(scheduler.completed(1, on: first) == .freed)
            #expect(drain(&scheduler).count == 1)
        }
        #expect(!scheduler.hasSentPairing(first))
        #expect(scheduler.completed(1, on: first) == .freed)
        #expect(scheduler.hasSentPairing(first))
    }

    @Test("No more packets are sent than there are buffers")
    func credits() {
        var scheduler = make(count: 2)
        let passed = (0..<4).flatMap { _ in submit([1], of: first, to: &scheduler) }
        #expect(drain(&scheduler, after: passed).count == 2)
        #expect(scheduler.completed(1, on: first) == .freed)
        #expect(drain(&scheduler).count == 1)
    }

    @Test("Nothing overtakes waiting packets on any link, even after some are dropped or their link is lost")
    func order() {
        var scheduler = make(count: 1)
        #expect(submit([1], of: first, to: &scheduler).count == 1)
        #expect(submit([2], of: first, to: &scheduler).isEmpty)
        #expect(scheduler.completed(1, on: first) == .freed)
        #expect(submit([3], of: second, to: &scheduler).isEmpty)
        #expect(drain(&scheduler).map { $0.packet.last } == [3])
        scheduler.discard(.attribute, of: first)
        #expect(scheduler.completed(1, on: second) == .freed)
        #expect(submit([4], of: second, to: &scheduler).count == 1)
        #expect(submit([5], of: second, to: &scheduler).isEmpty)
        scheduler.linkDown(second)
        #expect(submit([6], of: first, to: &scheduler).map { $0.packet.last } == [6])
    }

    @Test("A packet that is told to wait waits even if a buffer is free, and is sent in order")
    func waiting() {
        var scheduler = make(count: 2)
        let payloads = [[1, 2], [3]].map { OutgoingPayload(.writeCommand, AttributeHandle(wire: 9), $0) }
        for (index, payload) in payloads.enumerated() {
            #expect(scheduler.maySend == (index > 0))
            let waits = scheduler.enqueue(payload, of: first, receipt: .init(rawValue: UInt64(index)))
            #expect(waits)
        }
        let unknown = ConnectionHandle(wire: 3) ?? .lowest
        let waits = scheduler.enqueue(payloads[0], of: unknown, receipt: .init(rawValue: 9))
        #expect(!waits && !scheduler.hasRoom(for: 1, upTo: 9))
        let sent = drain(&scheduler)
        #expect(sent.map(\.packet) == payloads.map { Sent($0, of: first, receipt: nil).packet })
        #expect(sent.map(\.receipt) == [.init(rawValue: 0), .init(rawValue: 1)])
        #expect(!scheduler.maySend && scheduler.isEmpty && !scheduler.isIdle(first))
    }

    @Test("Links take turns, fragment by fragment")
    func fairness() {
        var scheduler = make(count: 6)
        _ = scheduler.submit([UInt8](repeating: 0, count: 200), on: .attribute, of: first, receipt: nil)
        _ = scheduler.submit([UInt8](repeating: 0, count: 200), on: .attribute, of: second, receipt: nil)
        #expect(drain(&scheduler).map { $0.packet[1] } == [1, 2, 1, 2, 1, 2])
    }

    @Test("An excessive count of completed packets is clamped")
    func lies() {
        var scheduler = make(count: 2)
        let passed = (0..<4).flatMap { _ in submit([1], of: first, to: &scheduler) }
        #expect(drain(&scheduler, after: passed).count == 2)
        #expect(scheduler.completed(.max, on: first) == .clamped(to: 2))
        #expect(scheduler.completed(1, on: second) == .clamped(to: 0))
        #expect(scheduler.completed(1, on: ConnectionHandle(wire: 3) ?? .lowest) == .noLink)
        #expect(drain(&scheduler).count == 2)
        #expect(drain(&scheduler).isEmpty)
    }

    @Test("The buffers of a lost link become free")
    func linkDown() {
        var scheduler = make(count: 1)
        let passed = submit([1], of: first, to: &scheduler) + submit([1], of: second, to: &scheduler)
        #expect(drain(&scheduler, after: passed).count == 1)
        scheduler.linkDown(first)
        #expect(drain(&scheduler).map { $0.packet[1] } == [2])
        #expect(scheduler.submit([1], on: .attribute, of: first, receipt: nil) == .noLink)
    }

    @Test("A queue has one limit for packets with a receipt, and one for the others")
    func limit() {
        var scheduler = make(count: 0)
        let receipt = SendReceipt(rawValue: 1)
        for _ in 0..<16 { #expect(scheduler.submit([1], on: .attribute, of: first, receipt: receipt) == .queued) }
        #expect(scheduler.submit([1], on: .attribute, of: first, receipt: receipt) == .limitReached)
        let waits = [first, second].map { scheduler.enqueue(OutgoingPayload([1]), of: $0, receipt: receipt) }
        #expect(waits == [false, true])
        for _ in 0..<4 { #expect(scheduler.submit([1], on: .attribute, of: first, receipt: nil) == .queued) }
        #expect(scheduler.submit([1], on: .attribute, of: first, receipt: nil) == .limitReached)
        #expect(scheduler.submit([1], on: .attribute, of: second, receipt: receipt) == .queued)
        scheduler.discard(.attribute, of: first)
        #expect(scheduler.submit([1], on: .attribute, of: first, receipt: receipt) == .queued)
    }
}

extension ACLScheduler {
    fileprivate mutating func submit(
        _ payload: [UInt8],
        on channel: ChannelIdentifier,
        of link: ConnectionHandle,
        receipt: SendReceipt?
    ) -> OnSubmit { submit(OutgoingPayload(payload), on: channel, of: link, receipt: receipt) }
}

@Suite("Reassembler")
struct ReassemblerTests {
    func frame(_ length: Int) -> [UInt8] {
        UInt16(length).littleEndianOctets + [4, 0] + (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    }

    @Test("A packet is reassembled unchanged, however it was fragmented", arguments: UInt64(0)..<16)
    func cuts(seed: UInt64) {
        var random = SeededGenerator(seed: seed), reassembler = Reassembler()
        for _ in 0..<50 {
            let whole = frame(.random(in: 0...600, using: &random))
            var rest = whole[...], isFirst = true, result = Reassembler.OnFragment.incomplete
            while !rest.isEmpty {
                let fragment = Array(rest.prefix(.random(in: 1...100, using: &random)))
                rest = rest.dropFirst(fragment.count)
                result = isFirst ? reassembler.begin(fragment.span) : reassembler.proceed(fragment.span)
                if rest.isEmpty, isFirst { #expect(result == .whole) }
                if !rest.isEmpty { #expect(result == .incomplete) }
                if rest.isEmpty, !isFirst { #expect(result == .complete(whole)) }
                isFirst = false
            }
        }
    }

    @Test("A reassembled packet has the requested room in front, and a complete packet is not copied")
    func room() {
        var reassembler = Reassembler(room: 5)
        #expect(reassembler.begin(frame(7).span) == .whole)
        #expect(reassembler.begin([3].span) == .incomplete)
        #expect(reassembler.proceed([0, 4, 0, 7].span) == .incomplete)
        #expect(reassembler.proceed([8, 9].span) == .complete([0, 0, 0, 0, 0, 3, 0, 4, 0, 7, 8, 9]))
        #expect(reassembler.begin([2, 0, 4, 0, 7].span) == .incomplete)
        #expect(reassembler.proceed([8, 9].span) == .dropped(.trailing(count: 1)))
    }

    @Test("A continuation without a first fragment is dropped")
    func stray() {
        var reassembler = Reassembler()
        #expect(reassembler.proceed([1, 2].span) == .dropped(.reserved(field: "Packet Boundary Flag")))
    }

    @Test("A packet longer than its header says is dropped, and the next one is intact")
    func lyingLength() {
        var reassembler = Reassembler()
        #expect(reassembler.begin(([2, 0, 4, 0] + [1, 2, 3]).span) == .dropped(.trailing(count: 1)))
        #expect(reassembler.begin(([4, 0, 4, 0] + [1, 2]).span) == .incomplete)
        #expect(reassembler.proceed([3, 4, 5].span) == .dropped(.trailing(count: 1)))
        #expect(reassembler.begin(frame(5).span) == .whole)
    }

    @Test("A packet that begins before the previous one is complete replaces it")
    func replaced() {
        var reassembler = Reassembler()
        #expect(reassembler.begin([9, 0, 4, 0, 1].span) == .incomplete)
        #expect(reassembler.isCollecting)
        #expect(reassembler.begin([1, 0].span) == .incomplete)
        #expect(reassembler.proceed([4, 0, 7].span) == .complete([1, 0, 4, 0, 7]))
    }
}
