import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part F, 3.4.7.2 and 3.4.7.3.
@Suite("Indication queue")
struct IndicationQueueTests {
    let start = Instant()
    let value = AttributeHandle(wire: 3), changed = AttributeHandle(wire: 8)

    private func item(_ octet: UInt8) -> IndicationQueue.Item { .value(value, [octet], update: nil) }

    private func change(_ start: UInt16, _ end: UInt16) throws -> IndicationQueue.Item {
        .serviceChanged(changed, try #require(AttributeHandleRange(.init(wire: start), .init(wire: end))))
    }

    @Test("Each indication is sent once the previous one is confirmed")
    func order() {
        var queue = IndicationQueue(limit: 4)
        #expect(queue.confirm(at: start) == .ignored)
        #expect(queue.submit(item(1), at: start) == .send)
        #expect(queue.submit(item(2), at: start) == .wait)
        #expect(queue.confirm(at: start) == .confirmed(item(1), next: item(2)))
        #expect(queue.confirm(at: start) == .confirmed(item(2), next: nil))
        #expect(queue.confirm(at: start) == .ignored)
    }

    @Test("The queue is limited, and gives up after 30 s without a confirmation")
    func limits() {
        var queue = IndicationQueue(limit: 1)
        _ = queue.submit(item(1), at: start)
        #expect(queue.submit(item(2), at: start) == .wait)
        #expect(queue.submit(item(3), at: start) == .refuse)
        #expect(queue.expire(at: start + .milliseconds(29_999)) == .nothing)
        #expect(queue.expire(at: start + .seconds(30)) == .abandon)
        #expect(queue.submit(item(4), at: start) == .refuse)
        #expect(queue.confirm(at: start) == .ignored)
        #expect(queue.removeValues() == [item(2)])
    }

    @Test("Each client can queue as many indications as the limit allows")
    func clients() {
        var ledger = UnsentUpdates(), queue = IndicationQueue(limit: 2), taken: [Int: Int] = [:]
        _ = queue.submit(item(0), at: start)
        for round in 0..<4 {
            for client in 1...3 {
                let number = ledger.begin(for: ClientID(rawValue: client))
                let isTaken = queue.submit(.value(value, [UInt8(round)], update: number), at: start) == .wait
                taken[client, default: 0] += isTaken ? 1 : 0
            }
        }
        #expect(taken == [1: 2, 2: 2, 3: 2])
    }

    @Test("Waiting Service Changed ranges are merged, but not with one already sent")
    func joining() throws {
        var queue = IndicationQueue(limit: 1)
        #expect(queue.submit(try change(10, 12), at: start) == .send)
        #expect(queue.submit(try change(20, 22), at: start) == .wait)
        #expect(queue.submit(try change(13, 15), at: start) == .wait)
        #expect(queue.confirm(at: start) == .confirmed(try change(10, 12), next: try change(13, 22)))
    }

    @Test("Only the waiting values of one attribute are dropped")
    func dropping() throws {
        let other = IndicationQueue.Item.value(.init(wire: 4), [4], update: nil)
        var queue = IndicationQueue(limit: 8)
        for item in [item(1), item(2), other, item(3), try change(1, 2)] { _ = queue.submit(item, at: start) }
        #expect(queue.removeValues(of: value) == [item(2), item(3)])
        #expect(queue.confirm(at: start) == .confirmed(item(1), next: try change(1, 2)))
        #expect(queue.confirm(at: start) == .confirmed(try change(1, 2), next: other))
        #expect(queue.confirm(at: start) == .confirmed(other, next: nil))
    }

    @Test("Values are truncated to fit", arguments: [23, 64])
    func cutting(mtu: Int) {
        let item = IndicationQueue.Item.value(value, [UInt8](repeating: 1, count: 100), update: nil)
        #expect(item.packet(mtu: mtu).encoded.count == mtu)
    }
}

@Suite("ATT server bearer")
struct ATTServerBearerTests {
    typealias Bearer = ATTServerBearer<Int>
    let request = Bearer.Incoming.request(.readRequest(.init(handle: .init(wire: 1))))
    let other = Bearer.Incoming.unacceptable(.readRequest, .invalidPDU)

    @Test("One request is answered before the next is read, and what exceeds the limit is dropped")
    func sequence() {
        var bearer = Bearer(limit: 1)
        #expect(bearer.receive(request) == .answer)
        bearer.suspend(7)
        #expect(bearer.pending == 7)
        #expect(bearer.receive(other) == .wait)
        #expect(bearer.receive(request) == .drop)
        #expect(bearer.finish() == other)
        #expect(bearer.pending == nil)
        #expect(bearer.finish() == nil)
        #expect(bearer.receive(request) == .answer)
    }
}
