import BLEWire
import Testing

@testable import BLEHost

@Suite("Subscribers of a characteristic")
struct SubscribersTests {
    @Test("Subscribers behave like a dictionary of sets", arguments: 0..<16 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed), subscribers = Subscribers(), model: [UInt16: Set<UInt16>] = [:]
        for _ in 0..<500 {
            let configuration = UInt16(random.below(8)) + 1, link = UInt16(random.below(31)),
                wants = random.below(2) > 0
            guard let handle = ConnectionHandle(wire: link) else { continue }
            subscribers.set(wants, AttributeHandle(wire: configuration), on: handle)
            if wants { model[configuration, default: []].insert(link) } else { model[configuration]?.remove(link) }
            let expected = model[configuration, default: []].sorted()
            var index = subscribers.first(of: AttributeHandle(wire: configuration)), links: [UInt16] = []
            while let link = subscribers.link(at: index, of: AttributeHandle(wire: configuration)) {
                links.append(link.wire)
                index += 1
            }
            #expect(links == expected)
        }
    }
}

@Suite("Link indexes")
struct LinkIndexTests {
    @Test("Links have the indexes of the table, whatever their connection handles")
    func places() throws {
        let handles = try [0, 1, 7, 0x40, 0xEFF].map { try #require(ConnectionHandle(wire: $0)) }
        let places = LinkIndex(handles)
        #expect(handles.map { places[$0] } == Array(0..<5))
        let others = try [2, 0x41, 0xEFE].map { try #require(ConnectionHandle(wire: $0)) }
        #expect(others.allSatisfy { places[$0] == nil })
        #expect(LinkIndex()[handles[0]] == nil)
    }
}
