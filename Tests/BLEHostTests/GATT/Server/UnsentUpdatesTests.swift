import BLEWire
import Testing

@testable import BLEHost

@Suite("Updates that have not been sent")
struct UnsentUpdatesTests {
    static let client = ClientID(rawValue: 1), other = ClientID(rawValue: 2)

    @Test("Updates are reported in order per client, once their last packet has been sent")
    func order() {
        var ledger = UnsentUpdates()
        let first = ledger.begin(for: Self.client), second = ledger.begin(for: Self.client)
        let third = ledger.begin(for: Self.other)
        for number in [first, first, second, third] { ledger.expect(number) }
        ledger.sent(second)
        ledger.sent(third)
        ledger.sent(first)
        let early = ledger.collect(for: Self.client), others = ledger.collect(for: Self.other)
        #expect(early == 0 && others == 1)
        ledger.sent(first)
        let all = ledger.collect(for: Self.client)
        #expect(all == 2 && ledger.isEmpty)
        #expect(ledger.client(of: first) == nil)
    }

    @Test("A removed client's updates are forgotten, whatever is sent later")
    func removal() {
        var ledger = UnsentUpdates()
        let gone = ledger.begin(for: Self.client), stays = ledger.begin(for: Self.other)
        ledger.expect(gone)
        ledger.expect(stays)
        ledger.remove(Self.client)
        ledger.sent(gone)
        ledger.sent(stays)
        ledger.sent(stays)
        let count = ledger.collect(for: Self.client), others = ledger.collect(for: Self.other)
        #expect(count == 0 && others == 1 && ledger.isEmpty)
    }

    @Test("Updates are counted like a list of them", arguments: 0..<16 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed), ledger = UnsentUpdates()
        var model: [(number: UnsentUpdates.Number, client: ClientID, packets: Int)] = []
        for _ in 0..<500 {
            let client = [Self.client, Self.other][Int(random.below(2))]
            switch random.below(4) {
            case 0:
                let packets = Int(random.below(4)), number = ledger.begin(for: client)
                for _ in 0..<packets { ledger.expect(number) }
                model.append((number, client, packets))
            case 1, 2:
                guard let index = model.indices.randomElement(using: &random) else { continue }
                ledger.sent(model[index].number)
                model[index].packets = max(0, model[index].packets - 1)
            default:
                let expected = model.filter { $0.client == client }.prefix { $0.packets == 0 }.count
                let count = ledger.collect(for: client)
                #expect(count == expected)
                var rest = expected
                model.removeAll { one in
                    guard one.client == client, rest > 0 else { return false }
                    rest -= 1
                    return true
                }
            }
        }
    }
}
