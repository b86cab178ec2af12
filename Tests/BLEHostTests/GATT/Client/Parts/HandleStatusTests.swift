import BLEWire
import Testing

@testable import BLEHost

@Suite("Handle status")
struct HandleStatusTests {
    typealias Change = @Sendable (inout HandleStatus) -> Void

    static let changes: [Change] = [
        { $0.learn() }, { $0.forget() }, { $0.expire() }, { $0.confirm() }, { $0.noteDelivery() },
        { $0.beginWatching() },
        { $0.checkUnwatched() }, { $0.isUnverified = $0.isDelivered }, { $0 = HandleStatus() },
    ]

    static func status(_ changes: Change...) -> HandleStatus {
        var status = HandleStatus()
        for change in changes { change(&status) }
        return status
    }

    /// A range at the beginning or at the end of all handles, where its neighbours may not exist.
    private func range(_ random: inout SeededGenerator) -> AttributeHandleRange {
        let start = 1 + random.below(40), end = min(40, start + random.below(9))
        let base: Int64 = random.below(2) == 0 ? 0 : 0xFFFF - 40
        return BLEHostTests.range(UInt16(base + start), UInt16(base + end))
    }

    @Test("Each handle has the status it was given, whatever its neighbours have", arguments: 0..<16 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed), statuses = HandleStatuses()
        var model = [HandleStatus](repeating: HandleStatus(), count: 0x10000)
        let ends = Array(1...42) + Array(0xFFFF - 41...0xFFFF)
        for _ in 0..<500 {
            let place = range(&random), handles = Int(place.start.wire)...Int(place.end.wire)
            let change = Self.changes[Int(random.below(Int64(Self.changes.count)))]
            statuses.update(place, change)
            for handle in handles { change(&model[handle]) }
            let known = ends.filter { model[$0].isKnown }
            #expect(statuses.known.flatMap { Array(Int($0.start.wire)...Int($0.end.wire)) } == known)
            #expect(zip(statuses.known, statuses.known.dropFirst()).allSatisfy { $0.end.wire + 1 < $1.start.wire })
            let asked = range(&random), inside = Int(asked.start.wire)...Int(asked.end.wire)
            for fits in [\.isKnown, \.isMissing, \.isDelivered, \.isUnverified]
                as [KeyPath<HandleStatus, Bool> & Sendable]
            {
                let first = statuses.first(in: asked) { $0[keyPath: fits] }
                #expect((first?.wire).map(Int.init) == inside.first { model[$0][keyPath: fits] })
                let last = statuses.last { $0[keyPath: fits] }
                #expect((last?.wire).map(Int.init) == ends.last { model[$0][keyPath: fits] })
            }
            #expect(statuses[place.end] == model[handles.upperBound])
        }
    }

    @Test("Adjacent ranges with the same status are merged, so that equal statuses compare equal")
    func joins() {
        var statuses = HandleStatuses()
        statuses.update(BLEHostTests.range(5, 9)) { $0.noteDelivery() }
        statuses.update(BLEHostTests.range(10, 12)) { $0.noteDelivery() }
        var other = HandleStatuses()
        other.update(BLEHostTests.range(5, 12)) { $0.noteDelivery() }
        #expect(statuses == other)
        other.update(.all) { $0 = HandleStatus() }
        #expect(other == HandleStatuses())
    }

    @Test("An unknown attribute cannot be stale, and one that was read again is verified")
    func knowledge() {
        #expect(Self.status({ $0.expire() }, { $0.confirm() }) == HandleStatus())
        let stale = Self.status({ $0.learn() }, { $0.expire() })
        #expect(stale.isKnown && stale.isMissing)
        #expect(Self.status({ $0.learn() }, { $0.expire() }, { $0.confirm() }) == Self.status { $0.learn() })
        #expect(Self.status({ $0.isUnverified = true }, { $0.learn() }) == Self.status { $0.learn() })
        let forgotten = Self.status({ $0.learn() }, { $0.noteDelivery() }, { $0.forget() })
        #expect(!forgotten.isKnown && forgotten.isDelivered, "clients stand on it")
    }

    @Test("Attributes reported before Service Changed was enabled are verified once")
    func watching() {
        var status = Self.status({ $0.learn() }, { $0.noteDelivery() }, { $0.beginWatching() }, { $0.noteDelivery() })
        status.checkUnwatched()
        #expect(status.isUnverified && status.isDelivered)
        status.checkUnwatched()
        #expect(!status.isUnverified && status.isDelivered)
        var later = Self.status({ $0.learn() }, { $0.beginWatching() }, { $0.noteDelivery() })
        later.checkUnwatched()
        #expect(!later.isUnverified)
    }
}
