import BLEHost
import BLEWire
import Glibc
import Testing

@testable import BLERuntime

@Suite("A process's draft of the state")
struct StateDraftTests {
    private static let now = Instant() + .seconds(100)

    private static func record(_ number: UInt64, _ name: String? = nil) -> PeerRecord {
        let identifier = PeerIdentifier(rawValue: UInt128(number))
        return PeerRecord(identifier: identifier, address: DeviceAddress(number, .public), advertisedName: name)
    }

    @Test("Repeated updates of a peer become one change")
    func gathers() throws {
        var draft = StateDraft(StateDocument(secret: 1, peers: (1...3).map { Self.record($0) }))
        for number in 0..<300 { _ = draft.remember(Self.record(2, "\(number)"), at: Self.now) }
        let begun = draft.begin(at: Self.now, isLast: true)
        let changes = try #require(begun)
        #expect(changes == [PeerChange(from: Self.record(2), to: Self.record(2, "299"))])
        #expect(draft.document.peers.all.map(\.address.value) == [1, 3, 2])
    }

    @Test("Data about a device is not stored for a peer that only claims its address")
    func claimed() {
        var claimant = Self.record(2, "Stranger")
        claimant.bond = Bond(identity: DeviceAddress(1, .public))
        var draft = StateDraft(StateDocument(secret: 1, peers: [claimant]))
        _ = draft.remember(Self.record(1, "Lamp"), at: Self.now)
        #expect(draft.document.peers.all.map(\.advertisedName) == ["Stranger", "Lamp"])
        #expect(draft.document.peers.all.map { $0.bond != nil } == [true, false])
        #expect(draft.document.peers.all.first?.bond?.identity == DeviceAddress(2, .public))
    }

    @Test("A new bond is written even if it takes the place of another")
    func replacing() throws {
        let bonded = (1...Limits().unattendedBonds + 1).map { number -> PeerRecord in
            var record = Self.record(UInt64(number))
            record.bond = Bond(identity: record.address)
            record.bond?.wantedBy = .peer
            return record
        }
        var draft = StateDraft(StateDocument(secret: 1, peers: bonded.dropLast()))
        let new = try #require(bonded.last)
        #expect(draft.remember(new, at: Self.now) == .wake(at: Self.now))
        let begun = draft.begin(at: Self.now)
        let changes = try #require(begun)
        #expect(changes.map(\.after) == [new])
        #expect(draft.document.peers.all.map { $0.bond == nil } == [true] + Array(repeating: false, count: 128))
    }

    @Test("Changes during a write are applied on top of the file's new content")
    func meanwhile() throws {
        var draft = StateDraft(StateDocument(secret: 1)), others = StateDocument(secret: 1, peers: [Self.record(9)])
        #expect(draft.remember(Self.record(1), at: Self.now) == .wake(at: Self.now))
        let first = draft.begin(at: Self.now)
        for change in try #require(first) { _ = others.apply(change) }
        _ = draft.remember(Self.record(2), at: Self.now)
        #expect(draft.stored(others, at: Self.now) == .wake(at: Self.now + .seconds(1)))
        #expect(draft.document.peers.all.map(\.address.value) == [9, 1, 2])
        let begun = draft.begin(at: Self.now + .seconds(1))
        let rest = try #require(begun)
        #expect(rest.map(\.after.address.value) == [2])
    }

    @Test("Changes that could not be written are kept with later ones, and the failure is reported once")
    func failing() throws {
        var draft = StateDraft(StateDocument(secret: 1))
        let full = FileProblem(.written, "/nowhere", errno: ENOSPC)
        for (round, name) in [nil, "Tea"].enumerated() {
            _ = draft.remember(Self.record(1, name), at: Self.now)
            let begun = draft.begin(at: Self.now, isLast: true)
            let changes = try #require(begun)
            _ = draft.remember(Self.record(2), at: Self.now)
            #expect(draft.failed(full, changes, at: Self.now).isNews == (round == 0))
        }
        let begun = draft.begin(at: Self.now, isLast: true)
        let changes = try #require(begun)
        #expect(Set(changes.map(\.after.address.value)) == [1, 2])
        #expect(changes.contains { $0.before == nil && $0.after == Self.record(1, "Tea") })
        #expect(draft.failed(FileProblem(.written, "/nowhere", errno: EIO), changes, at: Self.now).isNews)
    }

    @Test("The draft is limited, however long nothing can be written")
    func bounded() throws {
        var draft = StateDraft(StateDocument(secret: 1))
        for number in 0..<3_000 as Range<UInt64> { _ = draft.remember(Self.record(number), at: Self.now) }
        let begun = draft.begin(at: Self.now, isLast: true)
        let changes = try #require(begun)
        #expect(changes.count <= 1_025)
        #expect(draft.document.peers.count == 1_024)
    }
}
