import BLEWire
import Testing

@testable import BLEHost

@Suite("Pending signals")
struct SignalExchangeTests {
    let start = Instant()

    @Test("Each request has a unique identifier, which its response matches")
    func identifiers() {
        var exchange = SignalExchange()
        let requests = (0..<100).map { SignalExchange.Request.open(ChannelIdentifier(wire: $0)) }
        var identifiers: [SignalIdentifier] = []
        for request in requests { identifiers.append(exchange.begin(request, at: start)) }
        #expect(Set(identifiers).count == 100)
        for (identifier, request) in zip(identifiers, requests).reversed() {
            let found = exchange.finish(identifier) { $0 == request }
            #expect(found == request)
            let again = exchange.finish(identifier) { _ in true }
            #expect(again == nil)
        }
    }

    @Test("An identifier in use is not reused")
    func wrapping() {
        var exchange = SignalExchange()
        let kept = exchange.begin(.parameters, at: start)
        for number in 0..<1_000 {
            let identifier = exchange.begin(.open(ChannelIdentifier(wire: UInt16(number))), at: start)
            #expect(identifier != kept)
            _ = exchange.finish(identifier) { _ in true }
            #expect(exchange.makeIdentifier() != kept)
        }
    }

    @Test("A response of another kind matches nothing")
    func kinds() {
        var exchange = SignalExchange()
        let identifier = exchange.begin(.parameters, at: start)
        let other = exchange.finish(identifier) { if case .open = $0 { true } else { false } }
        #expect(other == nil)
        #expect(exchange.isAsking(.parameters))
    }

    @Test("A request times out at its deadline, and not a nanosecond earlier")
    func timeout() {
        var exchange = SignalExchange()
        _ = exchange.begin(.parameters, at: start)
        let due = start + SignalExchange.timeout
        #expect(exchange.deadline == due)
        #expect(exchange.expire(at: Instant(nanoseconds: due.nanoseconds - 1)) == [])
        #expect(exchange.expire(at: due) == [.parameters])
        #expect(exchange.deadline == nil)
    }

    @Test("A peer that asks for more time gets it")
    func postponed() {
        var exchange = SignalExchange()
        let identifier = exchange.begin(.openSeveral([]), at: start)
        let now = start + .seconds(29)
        let stray = exchange.postpone(identifier, at: now) { $0 == .parameters }
        #expect(!stray)
        let isPostponed = exchange.postpone(identifier, at: now) { _ in true }
        #expect(isPostponed)
        #expect(exchange.deadline == now + SignalExchange.extendedTimeout)
    }
}
