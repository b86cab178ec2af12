import BLEHost
import BLEWire
import FoundationEssentials
import Testing

@testable import BLERuntime

@Suite("Text of the state file")
struct StateTextTests {
    /// A state with a peer of each kind.
    static var document: StateDocument {
        var bond = Bond(identity: DeviceAddress(3, .public), longTermKey: LongTermKey(key: Key128(wire: 0xABC)))
        bond.remoteSigning = RemoteSigning(key: Key128(wire: 0xDEF), nextCounter: 17)
        bond.client.configurations = [.init(handle: .init(wire: 9), characteristic: .short(0x2A05), bits: 2)]
        bond.client.databaseHash = 0x999
        let sensor = PeerRecord(identifier: .init(rawValue: 3), address: bond.identity, name: "S", bond: bond)
        return StateDocument(secret: 0x777, peers: [sensor, StateFileTests.tea, StateFileTests.pot])
    }

    private static var text: String { String(decoding: StateText(document).octets, as: UTF8.self) }

    private static func read(_ text: String) throws -> (document: StateDocument, losses: [String]) {
        let read = try StateText(reading: [UInt8](text.utf8))
        return (read.document(freshSecret: 0), read.losses)
    }

    @Test("A document is read back unchanged")
    func whole() throws {
        let read = try Self.read(Self.text)
        #expect(read.document == Self.document)
        #expect(read.losses == [])
    }

    @Test("A truncated file is rejected as a whole", .timeLimit(.minutes(30)))
    func cut() throws {
        let octets = StateText(Self.document).octets
        for length in octets.indices {
            #expect(throws: StateText.Unreadable.malformed) { try StateText(reading: Array(octets[..<length])) }
        }
    }

    @Test(
        "An invalid value is named and omitted, and everything else is read",
        arguments: [
            ("\"777\"", "777", "secret"), ("\"777\"", "\"xyz\"", "secret"), ("\"777\"", "null", "secret"),
            ("\"S\"", "5", "peers[0].name"),
            ("00:03\",\n      \"bond\"", "00:XX\",\n      \"bond\"", "peers[0].address"),
            ("\"abc\"", "\"xyz\"", "peers[0].bond.longTermKey.key"), ("\"abc\"", "[]", "peers[0].bond.longTermKey.key"),
            ("\"keySize\" : 16", "\"keySize\" : 17", "peers[0].bond.keySize"),
            ("\"keySize\" : 16", "\"keySize\" : 1e99", "peers[0].bond.keySize"),
            ("\"keySize\"", "\"size\"", "peers[0].bond.keySize"),
            ("\"security\" : 1", "\"security\" : 9", "peers[0].bond.security"),
            ("\"def\"", "\"\"", "peers[0].bond.remoteSigning.key"),
            ("\"nextCounter\" : 17", "\"nextCounter\" : -1", "peers[0].bond.remoteSigning.nextCounter"),
            ("\"2A05\"", "\"2A0\"", "peers[0].bond.configurations"),
            ("\"handle\" : 9", "\"handle\" : 70000", "peers[0].bond.configurations[0].handle"),
            ("\"999\"", "\"-\"", "peers[0].bond.databaseHash"),
        ]
    )
    func partly(part: String, other: String, place: String) throws {
        try #require(Self.text.split(separator: part).count == 2, "the text has the part once")
        let read = try Self.read(Self.text.replacing(part, with: other)), whole = Self.document
        #expect(read.losses.count == 1)
        #expect(place.hasPrefix(try #require(read.losses.first)), "for a number, what holds it is named")
        #expect(read.document.secret == (place == "secret" ? 0 : whole.secret))
        #expect(read.document.peers.all.suffix(2) == whole.peers.all.suffix(2))
        let before = try #require(whole.peers.all[0].bond), bond = read.document.peers.all[0].bond
        switch place.split(separator: ".").last {
        case "address": #expect(read.document.peers.count == 2)
        case "keySize", "security",
            "key" where place.contains("longTermKey"):
            #expect(bond == nil)
        case "key", "nextCounter":
            #expect(bond?.remoteSigning == nil)
            #expect(bond?.longTermKey == before.longTermKey)
        case "configurations", "handle", "databaseHash":
            #expect(bond?.longTermKey == before.longTermKey)
            #expect(bond?.client.pendingChange == .all && bond?.client.isAware == false)
        default: #expect(bond == before)
        }
    }

    @Test("An invalid peer is named by its index", arguments: ["null", "5", "[]", "{}", "\"peer\""])
    func noPeer(text: String) throws {
        let read = try Self.read(#"{"version": 1, "secret": "7", "peers": [\#(text), \#(text)]}"#)
        #expect(read.losses.count == 2)
        #expect(read.losses.allSatisfy { $0.hasPrefix("peers[") })
        #expect(read.document == StateDocument(secret: 7))
    }

    @Test("A name in a file without a version counts as an advertised name")
    func old() throws {
        let peer = #"{"identifier": "1", "address": "00:00:00:00:00:01", "isRandom": false, "name": "Tea"}"#
        let read = try Self.read(#"{"secret": "7", "peers": [\#(peer)]}"#)
        #expect(read.losses == [])
        #expect(read.document.peers.all.map(\.name) == [nil])
        #expect(read.document.peers.all.map(\.advertisedName) == ["Tea"])
    }

    /// A peer that is bonded with two adapters, and was so before it was known with which.
    private static var shared: PeerRecord {
        var record = PeerRecord(identifier: .init(rawValue: 5), address: DeviceAddress(5, .public), name: "Shared")
        record.bonds = [nil, DeviceAddress(1, .public), DeviceAddress(0xC0FF_EE00_0001, .random)].enumerated().map {
            var bond = Bond(identity: record.address, longTermKey: LongTermKey(key: Key128(wire: UInt128($0.offset))))
            bond.adapter = $0.element
            return bond
        }
        return record
    }

    @Test("Each adapter's bond is read back unchanged")
    func adapters() throws {
        let document = StateDocument(secret: 7, peers: [Self.shared])
        let read = try Self.read(String(decoding: StateText(document).octets, as: UTF8.self))
        #expect(read.document == document && read.losses == [])
        #expect(read.document.peers.all.first?.bonds == Self.shared.bonds)
    }

    @Test(
        "Of the bonds with other adapters, only the invalid one is lost",
        arguments: [
            ("\"adapter\" : \"00:00:00:00:00:01\"", "\"adapter\" : 5", "peers[0].adapterBonds[0].adapter"),
            ("\"adapter\" : \"00:00:00:00:00:01\",", "", "peers[0].adapterBonds"),
            ("\"key\" : \"1\"", "\"key\" : \"x\"", "peers[0].adapterBonds[0].longTermKey.key"),
        ]
    )
    func lostAdapter(part: String, other: String, place: String) throws {
        let text = String(decoding: StateText(StateDocument(secret: 7, peers: [Self.shared])).octets, as: UTF8.self)
        try #require(text.split(separator: part).count == 2, "the text has the part once")
        let read = try Self.read(text.replacing(part, with: other))
        #expect(read.losses == [place])
        #expect(read.document.peers.all.first?.bonds == [Self.shared.bonds[0], Self.shared.bonds[2]])
    }

    @Test("A bond in a version 1 file is valid on any adapter")
    func versionOne() throws {
        let bond =
            #"{"address": "00:00:00:00:00:01", "isRandom": false, "keySize": 16, "security": 1, "#
            + #""longTermKey": {"key": "abc", "random": 0, "diversifier": 0}, "#
            + #""configurations": [], "features": 0, "isAware": true}"#
        let peer = #"{"identifier": "1", "address": "00:00:00:00:00:01", "isRandom": false, "bond": \#(bond)}"#
        let read = try Self.read(#"{"version": 1, "secret": "7", "peers": [\#(peer)]}"#)
        #expect(read.losses == [])
        let record = try #require(read.document.peers.all.first)
        for adapter in [DeviceAddress(8, .public), DeviceAddress(9, .random)] {
            #expect(record.selectingBond(for: adapter).bond?.longTermKey?.key == Key128(wire: 0xABC))
        }
    }

    @Test("A file of a later version is refused")
    func newer() {
        #expect(throws: StateText.Unreadable.newer(version: 3)) {
            try Self.read(#"{"version": 3, "secret": "7", "peers": []}"#)
        }
    }
}
