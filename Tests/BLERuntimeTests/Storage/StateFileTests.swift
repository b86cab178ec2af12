import BLEHost
import BLERuntime
import BLEWire
import Dispatch
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

    @Test("The secret and the peers are read back")
    func persists() throws {
        try Self.withPath { path in
            let first = StateFile(path: path, freshSecret: 7)
            first.remember(Self.tea)
            first.remember(Self.pot)
            first.flush()
            let again = StateFile(path: path, freshSecret: 8)
            #expect(again.secret == 7)
            #expect(again.peers == [Self.tea, Self.pot])
        }
    }

    @Test("A bond is read back, with all that the server stores about the client")
    func bonds() throws {
        var bond = Bond(identity: DeviceAddress(3, .public), security: .authenticated, keySize: 7)
        bond.remoteSigning = RemoteSigning(key: Key128(wire: .max - 1), nextCounter: 17)
        bond.users = [0, 1_000]
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
        worn.wantedBy = .peer
        var used = Bond(identity: DeviceAddress(5, .public))
        used.wantedBy = .app
        let records = [bond, worn, used].map {
            PeerRecord(identifier: PeerIdentifier(rawValue: UInt128($0.identity.value)), address: $0.identity, bond: $0)
        }
        try Self.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            for record in records { file.remember(record) }
            file.flush()
            #expect(StateFile(path: path, freshSecret: 8).peers == records)
        }
    }

    @Test("Only its user can read the file")
    func permissions() throws {
        try Self.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            file.remember(Self.tea)
            file.flush()
            for name in [path, path + ".lock"] {
                var status = stat()
                #expect(stat(name, &status) == 0)
                #expect(status.st_mode & 0o777 == 0o600)
            }
            let directory = path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex)
            let files = try FileManager.default.contentsOfDirectory(atPath: String(directory))
            #expect(Set(files) == ["host.json", "host.json.lock"])
        }
    }

    @Test("New data about a peer replaces the old")
    func replaces() throws {
        try Self.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            file.remember(Self.tea)
            file.remember(Self.pot)
            var renamed = Self.tea
            renamed.name = "Coffee"
            file.remember(renamed)
            file.flush()
            #expect(StateFile(path: path, freshSecret: 8).peers == [Self.pot, renamed])
        }
    }

    @Test("Two processes keep each other's peers and share the secret")
    func shared() throws {
        try Self.withPath { path in
            let first = StateFile(path: path, freshSecret: 7), second = StateFile(path: path, freshSecret: 8)
            first.remember(Self.tea)
            first.flush()
            second.remember(Self.pot)
            second.flush()
            #expect(second.secret == 7)
            #expect(StateFile(path: path, freshSecret: 9).peers == [Self.tea, Self.pot])
        }
    }

    @Test(
        "A file that cannot be parsed is set aside",
        arguments: [
            "", "{", "[]", "{}", "\u{0}", #"{"secret": "xyz", "peers": []}"#, #"{"peers": [{}]}"#,
            #"{"secret": 1, "peers": {}}"#, #"{"secret": "1", "peers": []"#,
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

    @Test("An invalid value costs only its own bond, and the original file is set aside")
    func partly() throws {
        var bonded = Self.pot
        bonded.bond = Bond(identity: Self.pot.address, longTermKey: LongTermKey(key: .zero))
        try Self.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            for record in [Self.tea, bonded] { file.remember(record) }
            file.flush()
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let damaged = text.replacing("C0:FF:EE:00:00:01", with: "nowhere")
            try Data(damaged.utf8).write(to: URL(filePath: path))
            let left = StateFile(path: path, freshSecret: 8)
            #expect(left.secret == 7)
            #expect(left.peers == [bonded])
            #expect(try String(contentsOfFile: path + ".unreadable", encoding: .utf8) == damaged)
        }
    }

    @Test("A file of a later version is left alone")
    func newer() throws {
        try Self.withPath { path in
            _ = StateFile(path: path, freshSecret: 1)
            let text = #"{"version": 99, "secret": "1", "peers": {}}"#
            try Data(text.utf8).write(to: URL(filePath: path))
            let file = StateFile(path: path, freshSecret: 7)
            file.remember(Self.tea)
            file.flush()
            #expect(file.peers == [Self.tea])
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
    }

    @Test("Changes are kept until they can be stored")
    func later() throws {
        try Self.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
            try FileManager.default.createDirectory(atPath: path + ".new/full", withIntermediateDirectories: true)
            file.remember(Self.tea)
            file.flush()
            #expect(StateFile(path: path, freshSecret: 8).peers.isEmpty)
            try FileManager.default.removeItem(atPath: path + ".new")
            file.flush()
            #expect(StateFile(path: path, freshSecret: 8).peers == [Self.tea])
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 2)
        }
    }

    @Test("A file that may not be read stays unchanged and is not replaced")
    func forbidden() async throws {
        try await #require(processExitsWith: .success) {
            try Self.withPath { path in
                let file = StateFile(path: path, freshSecret: 7)
                file.remember(Self.tea)
                file.flush()
                let octets = try Data(contentsOf: URL(filePath: path))
                chmod(path, 0)
                if geteuid() == 0 {
                    var place = path
                    while let slash = place.lastIndex(of: "/"), slash > place.startIndex {
                        place = String(place[..<slash])
                        if place.contains("state-") { chown(place, 65_534, 65_534) }
                    }
                    seteuid(65_534)
                }
                let other = StateFile(path: path, freshSecret: 8)
                other.remember(Self.pot)
                other.flush()
                if getuid() == 0 { seteuid(0) }
                chmod(path, 0o600)
                try #require(FileManager.default.fileExists(atPath: path))
                try #require(Data(contentsOf: URL(filePath: path)) == octets)
            }
        }
    }

    @Test("Several processes keep each other's peers, even if some are killed")
    func processes() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/state-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/host.json"
        await withTaskGroup { group in
            for process in 0..<4 as Range<UInt64> {
                group.addTask {
                    await #expect(processExitsWith: .signal(SIGKILL)) {
                        [path = path as String, process = process as UInt64] in
                        let file = StateFile(path: path, freshSecret: UInt128(process))
                        for number in 0..<25 {
                            let address = DeviceAddress(process << 8 | UInt64(number), .public)
                            file.remember(
                                PeerRecord(identifier: .init(rawValue: UInt128(address.value)), address: address)
                            )
                        }
                        file.flush()
                        kill(getpid(), SIGKILL)
                    }
                }
            }
        }
        let peers = StateFile(path: path, freshSecret: 9).peers.map(\.address.value)
        #expect(Set(peers).count == 100)
    }

    @Test("A process that is killed at any moment loses nothing that was stored", arguments: 1...6)
    func killed(round: Int) async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/state-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/host.json"
        for life in 0..<2 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
                let file = StateFile(path: path, freshSecret: 7)
                let begin = file.peers.count
                for number in begin... {
                    let address = DeviceAddress(UInt64(number), .public)
                    file.remember(PeerRecord(identifier: .init(rawValue: UInt128(number)), address: address))
                    file.flush()
                    guard number == begin + 20 else { continue }
                    let moment = DispatchTime.now() + .microseconds(round * 1_700)
                    DispatchQueue.global().asyncAfter(deadline: moment) { kill(getpid(), SIGKILL) }
                }
            }
            let peers = StateFile(path: path, freshSecret: 8).peers.map(\.address.value)
            #expect(peers.count > 20 * (life + 1))
            #expect(peers == (0..<UInt64(peers.count)).map { $0 })
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(Set(names).isSubset(of: ["host.json", "host.json.lock", "host.json.new"]))
    }

    @Test("When there are too many peers, those stored last are kept")
    func bounded() throws {
        try Self.withPath { path in
            let file = StateFile(path: path, freshSecret: 7)
            for number in 0..<1_030 as Range<UInt64> {
                file.remember(PeerRecord(identifier: .init(rawValue: UInt128(number)), address: .init(number, .public)))
            }
            #expect(file.peers.map(\.address.value) == Array(6..<1_030))
        }
    }

    @Test("If nothing can be written, the state lasts as long as the process")
    func unwritable() {
        let file = StateFile(path: "/proc/nowhere/host.json", freshSecret: 7)
        file.remember(Self.tea)
        #expect(file.secret == 7)
        #expect(file.peers == [Self.tea])
    }

    @Test("The path follows the environment variables")
    func path() {
        let path = { (environment: [String: String]) in StateFile.standardPath { environment[$0] } }
        #expect(path(["XDG_STATE_HOME": "/s", "HOME": "/h"]) == "/s/corebluetooth/host.json")
        #expect(path(["XDG_STATE_HOME": "s", "HOME": "/h"]) == "/h/.local/state/corebluetooth/host.json")
        #expect(path([:]) == nil)
    }
}
