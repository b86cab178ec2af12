import BLEWire
import Testing

@testable import BLEExplain

@Suite("Attribute names", .timeLimit(.minutes(10)))
struct AttributeNamesTests {
    private static func server(link: UInt16, isHost: Bool = false) -> AttributeNames.Server {
        .init(source: 0, link: link, isHost: isHost)
    }

    private static func handle(_ wire: UInt16) -> AttributeHandle { AttributeHandle(wire: wire) }

    /// Returns a Find Information response with attributes of one type.
    private static func information(_ handles: some Sequence<UInt16>, _ type: BluetoothUUID) -> ATTPacket {
        .findInformationResponse(.init(entries: handles.map { .init(handle: handle($0), type: type) }))
    }

    /// Returns a Read By Type response with characteristic declarations; each value follows its declaration.
    private static func declarations(_ characteristics: [(declaration: UInt16, type: UInt16)]) -> ATTPacket {
        var entries = ATT.ReadByTypeResponse.Entries()
        for (declaration, type) in characteristics {
            let value = [2] + (declaration + 1).littleEndianOctets + type.littleEndianOctets
            entries.append(handle(declaration), value[...])
        }
        return .readByTypeResponse(.init(entries: entries))
    }

    private static let names = AttributeNames { _, _ in nil }

    @Test("A descriptor belongs to the last characteristic before it")
    func parents() {
        var names = Self.names
        let server = Self.server(link: 1)
        let characteristics: [(UInt16, UInt16)] = [(10, 0x2A19), (20, 0x2A37), (30, 0x2A6E)]
        names.learn(Self.declarations(characteristics), from: server, asked: .short(0x2803))
        names.learn(Self.information([5, 12, 19, 22, 25, 32, 900], .short(0x2902)), from: server, asked: nil)
        let parents = [5, 12, 19, 22, 25, 32, 900].map { names.name(of: $0, of: server) }
        for (parent, type) in zip(parents, [nil, 0x2A19, 0x2A19, 0x2A37, 0x2A37, 0x2A6E, 0x2A6E] as [UInt16?]) {
            let name = type.flatMap { AssignedNames.attribute(.short($0)) }
            #expect(name.map { parent.contains(" of \($0) ") } ?? !parent.contains(" of "), "\(parent)")
        }
    }

    @Test("The words contain the first eight entries of a response and the number of others", arguments: [8, 9, 200])
    func lists(count: UInt16) {
        let response = Self.information(1...count, .short(0x2800))
        let words = Self.names.words(response, of: Self.server(link: 1), requested: nil)
        let entries = (1...8).map { "0x000\($0)" }.joined(separator: ", ")
        #expect(words == (count > 8 ? "\(entries), \(count - 8) more" : entries))
    }

    @Test("When a link ends, the attributes of both of its ends are forgotten, and no others")
    func forgetting() {
        var names = Self.names
        let servers = [
            Self.server(link: 1), Self.server(link: 1, isHost: true), Self.server(link: 2),
            .init(source: 1, link: 1, isHost: false),
        ]
        for server in servers { names.learn(Self.information([3], .short(0x2902)), from: server, asked: nil) }
        names.forget(1, of: 0)
        #expect(servers.map { names.type(of: 3, of: $0) != nil } == [false, false, true, true])
    }

    @Test("The end of one of many links does not search the attributes of the others")
    func manyLinks() {
        var names = Self.names
        let all = Array(UInt16(1)...9_000)
        for link in UInt16(0)..<10 {
            names.learn(Self.information(all, .short(0x2902)), from: Self.server(link: link), asked: nil)
        }
        // This takes hours if each call searches all 90,000 attributes.
        for number in UInt32(0)..<1_000_000 { names.forget(10 + UInt16(number % 1_000), of: 0) }
        for link in UInt16(0)..<10 { #expect(names.type(of: 9_000, of: Self.server(link: link)) != nil) }
    }
}
