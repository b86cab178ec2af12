import BLEHost
import BLERuntime
import BLEWire
import FoundationEssentials
import Glibc
import Testing

@Suite("State file")
struct StateFileTests {
    static let tea = PeerRecord(
        identifier: PeerIdentifier(rawValue: 1),
        address: DeviceAddress(0xC0FF_EE00_0001, .random),
        name: "Tea ☕"
    )
    static let pot = PeerRecord(identifier: PeerIdentifier(rawValue: .max), address: DeviceAddress(2, .public))

    /// Runs `body` with a path in a directory of its own.
    static func withPath(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.path + "/state-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory + "/deep/down/host.json")
    }

    @Test("The secret and the peers are found again")
    func persists() throws {
        try Self.withPath { path in
            let first = StateFile(path: path, freshSecret: 7)
            first.remember(Self.tea)
            first.remember(Self.pot)
            let again = StateFile(path: path, freshSecret: 8)
            #expect(again.secret == 7)
            #expect(again.peers == [Self.tea, Self.pot])
        }
    }

    @Test("A bond is found again, with all that the server remembers of the client")
    func bonds() throws {
        var bond = Bond(identity: DeviceAddress(3, .public), security: .authenticated, keySize: 7)
        bond.remoteSigning = RemoteSigning(key: Key128(wire: .max - 1), nextCounter: 17)
        bond.longTermKey = LongTermKey(key: Key128(wire: .max - 2), random: .max, diversifier: 7)
        bond.client.configurations = [
            .init(handle: AttributeHandle(wire: 9), characteristic: .short(0x2A05), bits: 2),
            .init(handle: AttributeHandle(wire: 99), characteristic: .full(.max), bits: 1),
        ]
        bond.client.features = [.robustCaching, .multipleNotifications]
        bond.client.databaseHash = 0x1234 << 100
        bond.client.isAware = false
        bond.client.pendingChange = .all
        var worn = Bond(identity: DeviceAddress(0xC0FF_EE00_0004, .random))
        worn.remoteSigning = RemoteSigning(key: .zero, nextCounter: nil)
        let records = [bond, worn, Bond(identity: DeviceAddress(5, .public))].map {
            PeerRecord(identifier: PeerIdentifier(rawValue: UInt128($0.identity.value)), address: $0.identity, bond: $0)
        }
        try Self.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            for record in records { file.remember(record) }
            #expect(StateFile(path: path, freshSecret: 8).peers == records)
        }
    }

    @Test("Only its user may read the file")
    func permissions() throws {
        try Self.withPath { path in
            StateFile(path: path, freshSecret: 7).remember(Self.tea)
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            let directory = path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex)
            let files = try FileManager.default.contentsOfDirectory(atPath: String(directory))
            #expect(files == ["host.json"])
        }
    }

    @Test("What is new about a peer replaces what was known")
    func replaces() throws {
        try Self.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            file.remember(Self.tea)
            file.remember(Self.pot)
            var renamed = Self.tea
            renamed.name = "Coffee"
            file.remember(renamed)
            #expect(StateFile(path: path, freshSecret: 8).peers == [renamed, Self.pot])
        }
    }

    @Test("Two processes keep each other's peers and share the secret")
    func shared() throws {
        try Self.withPath { path in
            let first = StateFile(path: path, freshSecret: 7), second = StateFile(path: path, freshSecret: 8)
            first.remember(Self.tea)
            second.remember(Self.pot)
            #expect(second.secret == 7)
            #expect(StateFile(path: path, freshSecret: 9).peers == [Self.tea, Self.pot])
        }
    }

    @Test(
        "A file that cannot be understood is put aside",
        arguments: [
            "", "{", "[]", "{}", #"{"secret": "xyz", "peers": []}"#, #"{"secret": "1", "peers": [{}]}"#,
            #"{"secret": "1", "peers": [{"identifier": "1", "address": "nowhere", "isRandom": true}]}"#,
            """
            {"secret": "1", "peers": [
                {"identifier": "1", "address": "00:00:00:00:00:01", "isRandom": true, "bond": {}}
            ]}
            """,
        ]
    )
    func unreadable(text: String) throws {
        try Self.withPath { path in
            _ = StateFile(path: path, freshSecret: 1)
            try Data(text.utf8).write(to: URL(filePath: path))
            let file = StateFile(path: path, freshSecret: 7)
            #expect(file.secret == 7)
            #expect(file.peers.isEmpty)
            #expect(StateFile(path: path, freshSecret: 8).secret == 7)
            let kept = try String(contentsOfFile: path + ".unreadable", encoding: .utf8)
            #expect(kept == text)
        }
    }

    @Test("Where nothing can be written, the state lasts as long as the process")
    func unwritable() {
        let file = StateFile(path: "/proc/nowhere/host.json", freshSecret: 7)
        file.remember(Self.tea)
        #expect(file.secret == 7)
        #expect(file.peers == [Self.tea])
    }

    @Test("The path follows the environment")
    func path() {
        let path = { (environment: [String: String]) in StateFile.standardPath { environment[$0] } }
        #expect(path(["XDG_STATE_HOME": "/s", "HOME": "/h"]) == "/s/corebluetooth/host.json")
        #expect(path(["XDG_STATE_HOME": "s", "HOME": "/h"]) == "/h/.local/state/corebluetooth/host.json")
        #expect(path([:]) == nil)
    }
}
