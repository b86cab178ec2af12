import BLEWire
import Testing

@testable import BLEHost

@Suite("Known attributes of a peer")
struct KnownAttributesTests {
    typealias Declaration = KnownAttributes.Declaration

    static func handle(_ wire: UInt16) -> AttributeHandle { AttributeHandle(wire: wire) }

    static func declaration(_ wire: UInt16, value: UInt16, _ type: UInt16 = 0x2A19) -> Declaration {
        Declaration(handle: handle(wire), properties: 2, value: handle(value), uuid: .short(type))
    }

    static func service(_ start: UInt16, _ end: UInt16) -> DiscoveredService {
        DiscoveredService(uuid: .short(0x180F), range: range(start, end), isPrimary: true)
    }

    @Test("A declaration reveals both of its attributes, and that there is nothing between them")
    func declarations() {
        var known = KnownAttributes()
        known.learn(declarations: [Self.declaration(4, value: 7)], in: range(2, 4))
        #expect(known.status[.characteristics].known == [range(2, 7)])
        #expect(known.status[.types].known == [range(4, 7)])
        #expect(known.types.map(\.handle.wire) == [4, 7])
    }

    @Test("New declarations replace the attributes up to their values, and keep those that follow")
    func declarationsAmongTypes() {
        var known = KnownAttributes()
        let found = [2, 3, 4, 6, 7, 8, 9].map { DiscoveredDescriptor(uuid: .short(0x2902), handle: Self.handle($0)) }
        known.learn(types: found, in: range(2, 9))
        known.learn(declarations: [Self.declaration(7, value: 9)], in: range(7, 7))
        let declarations = [(2, 3), (4, 5), (6, 8)].map { Self.declaration($0.0, value: $0.1) }
        known.learn(declarations: declarations, in: range(1, 6))
        #expect(known.declarations == declarations)
        #expect(known.status[.characteristics].known == [range(1, 9)])
        #expect(known.types.map(\.handle.wire) == [2, 3, 4, 5, 6, 8, 9])
        #expect(known.types.filter { $0.uuid == GATT.characteristic }.map(\.handle.wire) == [2, 4, 6])
    }

    @Test("Adjacent declarations and values form one range")
    func extents() {
        let declarations = [(1, 2), (3, 5), (7, 8), (0xFFFE, 0xFFFF)].map { Self.declaration($0.0, value: $0.1) }
        var extents: [AttributeHandleRange] = []
        declarations.forEachExtent { extents.append($0) }
        #expect(extents == [range(1, 5), range(7, 8), range(0xFFFE, 0xFFFF)])
    }

    @Test("Attribute types reveal where there are no declarations, but only the position of a declaration")
    func types() {
        var known = KnownAttributes()
        let found = [(2, GATT.characteristic), (3, .short(0x2A19)), (4, GATT.include), (5, .short(0x2902))]
            .map { DiscoveredDescriptor(uuid: $0.1, handle: Self.handle($0.0)) }
        known.learn(types: found, in: range(1, 6))
        #expect(known.status[.types].known == [range(1, 6)])
        #expect(known.status[.characteristics].known == [range(1, 1), range(3, 6)])
        #expect(known.status[.includes].known == [range(1, 3), range(5, 6)])
        #expect(known.descriptors(in: range(1, 6)).map(\.handle.wire) == [3, 5])
    }

    @Test("A service ends where another one is found to begin")
    func services() {
        var known = KnownAttributes()
        known.learn(services: [Self.service(1, 20)], in: range(1, 20))
        known.learn(services: [Self.service(10, 20)], in: range(10, 20))
        #expect(known.services.map(\.range) == [range(1, 9), range(10, 20)])
        #expect(known.status[.services].known == [range(1, 20)])
    }

    @Test("Removal takes whole services and characteristics, and keeps everything else")
    func removal() {
        var known = KnownAttributes()
        known.learn(services: [Self.service(1, 9), Self.service(10, 19), Self.service(20, 29)], in: range(1, 29))
        known.learn(
            declarations: [Self.declaration(11, value: 12), Self.declaration(21, value: 22)],
            in: range(1, 29)
        )
        let gone = known.remove(range(15, 15))
        #expect(gone == range(10, 19))
        #expect(known.services.map(\.range) == [range(1, 9), range(20, 29)])
        #expect(known.declarations.map(\.handle.wire) == [21])
        #expect(known.status[.services].first(in: .all, where: \.isMissing) == Self.handle(10))
    }

    @Test("The stored database contains nothing about what clients were told")
    func kept() {
        var known = KnownAttributes()
        known.learn(services: [Self.service(1, 20)], in: range(1, 20))
        let fresh = known
        known.mark(.services, in: range(1, 9)) { $0.noteDelivery() }
        known.mark(.services, in: range(5, 12)) { $0.expire() }
        known.mark(.services, in: range(11, 30)) { $0.isUnverified = true }
        #expect(known != fresh && known.asStored == fresh)
    }

    @Test("Only what differs from what clients were told counts as a change")
    func changes() {
        var untold = KnownAttributes()
        untold.learn(declarations: [Self.declaration(2, value: 3), Self.declaration(5, value: 6)], in: range(1, 9))
        var known = untold
        known.mark(.characteristics, in: range(1, 9)) { $0.noteDelivery() }
        func change(_ found: [Declaration]) -> AttributeHandleRange? {
            known.change(declarations: found, in: range(1, 9))
        }
        let same = Self.declaration(2, value: 3), moved = Self.declaration(5, value: 7)
        #expect(change([same, Self.declaration(5, value: 6)]) == nil)
        #expect(change([same, moved]) == range(5, 7))
        #expect(change([same]) == range(5, 6))
        #expect(untold.change(declarations: [], in: range(1, 9)) == nil, "nobody was told")
    }

    @Test("Impossible attributes are not accepted from a file")
    func senseless() {
        let overlapping = [Self.service(1, 10), Self.service(10, 20)]
        #expect(
            KnownAttributes(services: overlapping, includes: [], declarations: [], types: [], status: .init()) == nil
        )
        let inside = [Self.declaration(2, value: 5), Self.declaration(4, value: 6)]
        #expect(KnownAttributes(services: [], includes: [], declarations: inside, types: [], status: .init()) == nil)
    }
}
