import BLEHost
import BLESession
import BLEWire
import CoreBluetooth
import Glibc
import Testing

@testable import BLEDaemon

@Suite("The file of kept sessions")
struct KeptFileTests {
    private func withPath(_ body: (String) throws -> Void) throws {
        let pattern = FileManager.default.temporaryDirectory.path + "/kept-" + String(repeating: "X", count: 6)
        var name = Array(pattern.utf8CString)
        let directory = try #require(mkdtemp(&name).map { String(cString: $0) })
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory + "/sessions")
    }

    private func records(_ count: Int, seed: UInt64) -> [KeptRecord] {
        var generator = PacketGenerator(random: SeededGenerator(seed: seed), payloadLimit: 12)
        return (0..<count).map { _ in
            let record: KeptRecord = generator.next()
            return (try? KeptRecord(decoding: record.encoded)) ?? record
        }
    }

    @Test("Written records are read back, and the latest version counts", arguments: 0..<16 as Range<UInt64>)
    func round(seed: UInt64) throws {
        try withPath { path in
            let file = KeptFile(path: path), last = records(5, seed: seed)
            file.write(records(3, seed: seed &+ 1))
            file.write(last)
            file.flush()
            #expect(KeptFile(path: path).read().map(\.encoded) == last.map(\.encoded))
        }
    }

    @Test("Changes in quick succession are written together, and the last one reaches the disk")
    func pacing() throws {
        try withPath { path in
            let file = KeptFile(path: path), last = records(4, seed: 9)
            for seed in 1..<200 as Range<UInt64> { file.write(records(1, seed: seed)) }
            file.write(last)
            file.flush()
            #expect(KeptFile(path: path).read().map(\.encoded) == last.map(\.encoded))
        }
    }

    @Test("The session of an app is stored and restored, however large the databases of its peers are")
    func hostilePeers() throws {
        var session = KeptSession(.central)
        for number in 0..<256 as Range<UInt128> {
            let peer = PeerIdentifier(rawValue: number), name = String(repeating: "n", count: 248)
            session.note(.connect(peer, ConnectRequest()))
            _ = session.receive(.connected(peer, LinkParameters(mtu: 517, name: name)), canLaunch: true)
            _ = session.receive(.peer(peer, .linkChanged(LinkDetails(address: .none))), canLaunch: true)
            let count: UInt16 = number < 3 ? 16_384 : 100
            let services = (1...count).map { start in
                let handle = AttributeHandle(wire: start)
                let range = AttributeHandleRange(handle, handle) ?? .all
                return DiscoveredService(uuid: .full(UInt128(start) << 64), range: range, isPrimary: true)
            }
            _ = session.receive(.peer(peer, .servicesDiscovered(.success(services))), canLaunch: true)
        }
        guard case .central(let central) = session.state else { return }
        for peer in central.peers {
            #expect(peer.validEvents.reduce(0) { $0 + 1 + $1.encoded.count } <= peer.octets)
        }
        let app = AppCredentials(user: 1, groups: [], process: 1, program: "/bin/app")
        let key = try #require(AppKey(Hello(.central, restoring: "app"), of: app))
        let record = KeptRecord(key: key, state: session.state)
        #expect(record.encoded.count < KeptFile.mostOctetsOfRecord)
        #expect(central.peers.contains { !$0.validEvents.isEmpty })
    }

    /// Returns a session of a user whose scan looks for a name of this length.
    private func record(ofUser user: UInt32, octets: Int) throws -> KeptRecord {
        let app = AppCredentials(user: user, groups: [], process: 1, program: "/bin/app")
        let scan = ScanRequest(namePrefix: String(repeating: "n", count: octets))
        return KeptRecord(
            key: try #require(AppKey(Hello(.central, restoring: "app"), of: app)),
            state: .central(PreservedCentral(scan: scan))
        )
    }

    @Test("Sessions that are too large are left out, and the others are stored", arguments: [300_000, 1_000_000])
    func large(octets: Int) throws {
        try withPath { path in
            let file = KeptFile(path: path), small = try record(ofUser: 2, octets: 10)
            let large = try record(ofUser: 1, octets: octets)
            file.write(Array(repeating: large, count: 65) + [small])
            file.flush()
            #expect(KeptFile(path: path).read() == [small])
            file.write([large])
            file.flush()
            #expect(FileManager.default.contents(atPath: path) == Data())
        }
    }

    @Test("The maximum number of sessions, each of the maximum length, can be stored")
    func full() throws {
        try withPath { path in
            let file = KeptFile(path: path), limit = KeptFile.mostOctetsOfRecord
            let rest = try record(ofUser: 1, octets: 0).encoded.count
            let longest = try record(ofUser: 1, octets: limit - rest)
            #expect(longest.encoded.count == limit)
            file.write(Array(repeating: longest, count: KeptSessions.most))
            file.flush()
            var facts = stat()
            #expect(stat(path, &facts) == 0 && facts.st_size > KeptSessions.most * limit)
        }
    }

    @Test("A truncated file is read as far as it is valid, and any other file as empty")
    func damage() throws {
        try withPath { path in
            let file = KeptFile(path: path), all = records(3, seed: 7)
            file.write(all)
            file.flush()
            let octets = try #require(FileManager.default.contents(atPath: path))
            for length in stride(from: 0, to: octets.count, by: max(1, octets.count / 97)) {
                try octets.prefix(length).write(to: URL(filePath: path))
                #expect(all.map(\.encoded).starts(with: KeptFile(path: path).read().map(\.encoded)))
            }
            try Data("{}".utf8).write(to: URL(filePath: path))
            #expect(KeptFile(path: path).read() == [])
        }
    }
}
