import BLEWire
import Testing

@testable import BLEHost

@Suite("Outgoing updates of one bearer")
struct OutgoingUpdatesTests {
    private static let handles = [AttributeHandle(wire: 3), AttributeHandle(wire: 6)]

    private static let mtu = 23

    private static func updates(gathering limit: Int) -> OutgoingUpdates {
        var limits = Limits()
        limits.gatheredValues = limit
        return OutgoingUpdates(limits: limits)
    }

    private var ledger = UnsentUpdates()

    private mutating func value(_ octet: UInt8, of handle: AttributeHandle = Self.handles[0]) -> OutgoingUpdates.Value {
        .init(handle: handle, value: [octet], number: ledger.begin(for: ClientID(rawValue: 1)))
    }

    @Test("An update is sent immediately while nothing is under way")
    mutating func alone() {
        var updates = Self.updates(gathering: 2)
        let action = updates.gather(value(1), mtu: Self.mtu), due = updates.removeValuesIfIdle()
        #expect(action == .send && due.isEmpty && !updates.holdsValues)
    }

    @Test("Updates wait until all earlier ones have been sent, and then leave in order")
    mutating func gathering() {
        var updates = Self.updates(gathering: 2)
        let first = value(1), second = value(2), third = value(3), fourth = value(4)
        updates.noteSent(first.number, as: SendReceipt(rawValue: 5))
        updates.noteSent(second.number, as: SendReceipt(rawValue: 6))
        let actions = [updates.gather(third, mtu: Self.mtu), updates.gather(fourth, mtu: Self.mtu)]
        #expect(actions == [.wait, .wait] && updates.holdsValues)

        let taken = [SendReceipt(rawValue: 5), SendReceipt(rawValue: 5)].map { updates.nextTaken(upTo: $0) }
        #expect(taken == [first.number, nil])
        let early = updates.removeValuesIfIdle()
        #expect(early.isEmpty)

        let last = updates.nextTaken(upTo: SendReceipt(rawValue: 9)), due = updates.removeValuesIfIdle()
        #expect(last == second.number && due == [third, fourth] && !updates.holdsValues)
    }

    @Test("All updates of one packet count as sent together")
    mutating func together() {
        var updates = Self.updates(gathering: 2)
        let values = [value(1), value(2)], receipt = SendReceipt(rawValue: 5)
        for value in values { updates.noteSent(value.number, as: receipt) }
        let taken = (0..<3).map { _ in updates.nextTaken(upTo: receipt) }
        #expect(taken == [values[0].number, values[1].number, nil])
    }

    @Test("An update too long to share a packet does not wait, and neither do those before it", arguments: [13, 14])
    mutating func full(octets: Int) {
        var updates = Self.updates(gathering: 2)
        let first = value(1), second = value(2), third = ledger.begin(for: ClientID(rawValue: 1))
        let long = [UInt8](repeating: 3, count: octets)
        updates.noteSent(first.number, as: SendReceipt(rawValue: 5))
        #expect(updates.gathers(octets, mtu: Self.mtu) == (octets == 13))
        let waits = updates.gather(second, mtu: Self.mtu)
        #expect(waits == .wait && updates.gathers(octets, mtu: Self.mtu))
        let action = updates.gather(.init(handle: Self.handles[0], value: long, number: third), mtu: Self.mtu)
        #expect(action == (octets == 13 ? .wait : .sendAfter([second])) && updates.holdsValues == (octets == 13))
    }

    @Test("When the limit is reached, the waiting updates leave immediately")
    mutating func limit() {
        var updates = Self.updates(gathering: 1)
        let first = value(1), second = value(2), third = value(3)
        updates.noteSent(first.number, as: SendReceipt(rawValue: 5))
        let actions = [updates.gather(second, mtu: Self.mtu), updates.gather(third, mtu: Self.mtu)]
        #expect(actions == [.wait, .release([second])])
        let values = updates.removeValues()
        #expect(values == [third])
    }

    @Test("The updates of one attribute can be removed without the others")
    mutating func removal() {
        var updates = Self.updates(gathering: 4)
        let sent = value(0), first = value(1), other = value(2, of: Self.handles[1]), second = value(3)
        updates.noteSent(sent.number, as: SendReceipt(rawValue: 5))
        for value in [first, other, second] { _ = updates.gather(value, mtu: Self.mtu) }
        let removed = updates.removeValues(of: Self.handles[0]), rest = updates.removeValues()
        #expect(removed == [first, second] && rest == [other])
        let given = [updates.removeFirstSent(), updates.removeFirstSent()]
        #expect(given == [sent.number, nil])
    }
}
