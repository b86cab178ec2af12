import BLEWire
import Testing

@testable import BLEController

@Suite("Link layer building blocks")
struct LeafTests {
    /// Core 6.0, Vol 6, Part C, 3: the samples for all channels and for nine of them.
    static let channels: [(counter: UInt16, map: UInt64, channel: UInt8)] = [
        (1, 0x1F_FFFF_FFFF, 20), (2, 0x1F_FFFF_FFFF, 6), (3, 0x1F_FFFF_FFFF, 21),
        (6, 0x1E_00E0_0600, 23), (7, 0x1E_00E0_0600, 9), (8, 0x1E_00E0_0600, 34),
    ]

    @Test("Channel Selection Algorithm #2 matches the specification's sample data", arguments: channels.indices)
    func algorithm2(index: Int) {
        let (counter, map, channel) = Self.channels[index]
        let selection = ChannelSelection.algorithm2
        #expect(selection.channel(counter: counter, accessAddress: 0x8E89_BED6, map: map) == channel)
    }

    @Test("Channel Selection Algorithm #1 hops over all used channels, and only those")
    func algorithm1() {
        for hop in UInt8(5)...16 {
            let selection = ChannelSelection.algorithm1(hop: hop)
            let all = (UInt16(0)..<37).map { selection.channel(counter: $0, accessAddress: 0, map: ChannelMap.all) }
            #expect(all.sorted() == Array(0..<37))
            #expect(all[1] == (all[0] + hop) % 37)
            let few = (UInt16(0)..<370).map { selection.channel(counter: $0, accessAddress: 0, map: 0b1010) }
            #expect(Set(few) == [1, 3])
        }
    }

    @Test(
        "A schedule returns its entries earliest first, and equal ones in the order they were added",
        arguments: UInt64(0)..<16
    )
    func schedule(seed: UInt64) {
        var random = SeededGenerator(seed: seed), schedule = Schedule()
        var expected: [(instant: Int64, token: UInt64)] = []
        for index in 0..<300 {
            let instant = random.below(50)
            expected.append((instant, schedule.add(.link(index), at: Instant(nanoseconds: instant))))
        }
        expected.sort { $0 < $1 }
        for entry in expected {
            #expect(schedule.first == Instant(nanoseconds: entry.instant))
            let early = schedule.next(by: Instant(nanoseconds: entry.instant - 1))
            let due = schedule.next(by: Instant(nanoseconds: entry.instant))
            #expect(early?.token == nil && due?.token == entry.token)
        }
        #expect(schedule.first == nil)
    }

    @Test("A schedule keeps that order when entries are added in between", arguments: UInt64(0)..<16)
    func livingSchedule(seed: UInt64) {
        var random = SeededGenerator(seed: seed), schedule = Schedule(), now: Int64 = 0
        var expected: [(instant: Int64, token: UInt64)] = []
        for index in 0..<2_000 {
            if random.below(2) == 0 {
                let instant = now + random.below(20)
                expected.append((instant, schedule.add(.link(index), at: Instant(nanoseconds: instant))))
                expected.sort { $0 < $1 }
            } else {
                #expect(schedule.first == expected.first.map { Instant(nanoseconds: $0.instant) })
                now = expected.first?.instant ?? now
                let early = schedule.next(by: Instant(nanoseconds: now - 1))
                #expect(early?.token == nil)
                let due = schedule.next(by: Instant(nanoseconds: now))
                #expect(due?.token == (expected.isEmpty ? nil : expected.removeFirst().token))
            }
            #expect(schedule.first == expected.first.map { Instant(nanoseconds: $0.instant) })
        }
    }

    @Test("A schedule keeps that order when entries are removed", arguments: UInt64(0)..<16)
    func removal(seed: UInt64) {
        var random = SeededGenerator(seed: seed), schedule = Schedule()
        var expected: [(instant: Int64, token: UInt64)] = []
        for index in 0..<300 {
            let instant = random.below(50)
            expected.append((instant, schedule.add(.link(index), at: Instant(nanoseconds: instant))))
        }
        expected.sort { $0 < $1 }
        while !expected.isEmpty {
            let index = Int(random.below(Int64(expected.count)))
            schedule.remove(expected.remove(at: index).token)
            schedule.remove(.max)
            guard !expected.isEmpty else { break }
            let next = schedule.next(by: Instant(nanoseconds: .max))
            #expect(next?.token == expected.removeFirst().token)
        }
        #expect(schedule.first == nil)
    }

    /// The commands that a host repeats.
    enum Repetition: CaseIterable { case scan, shorterScan, initiation, timeout, reset }

    @Test("The schedule does not grow with the number of a host's commands", arguments: Repetition.allCases)
    func growth(_ repetition: Repetition) throws {
        var bench = Bench()
        let board = bench.addPrivate()
        func prepare(_ bench: inout Bench) {
            bench.list(1, on: board)
            bench.announce(.extended, board, own: .resolvableOrPublic, peer: Bench.address(1))
            bench.scanExtended(board, enable: .init(enable: true, duration: EnableDuration(wire: .max)))
            bench.run(for: .milliseconds(20))
        }
        prepare(&bench)
        for number in 0..<2_000 as Range<UInt16> {
            switch repetition {
            case .scan, .shorterScan:
                let duration = EnableDuration(wire: repetition == .scan ? 100 : 3_000 - number)
                let command = HCI.LESetExtendedScanEnable(enable: true, duration: duration)
                #expect(bench.ask(.leSetExtendedScanEnable(command), board) == .success)
            case .initiation:
                bench.initiateExtended(board, to: Bench.address(1))
                #expect(bench.ask(.leCreateConnectionCancel, board) == .success)
            case .timeout:
                let timeout = try #require(PrivateAddressTimeout(wire: 3_000 - number))
                let command = HCI.LESetResolvablePrivateAddressTimeout(timeout: timeout)
                #expect(bench.ask(.leSetResolvablePrivateAddressTimeout(command), board) == .success)
            case .reset:
                #expect(bench.ask(.reset, board) == .success)
                prepare(&bench)
            }
        }
        var schedule = bench.air.schedule, count = 0
        while schedule.next(by: Instant(nanoseconds: .max)) != nil { count += 1 }
        #expect(count < 10)
    }

    @Test("Ten times the distance costs 25 dB, and the minimum distance is half a metre")
    func pathLoss() {
        #expect([1.0, 10, 100, 1_000].map { PathLoss.strength(power: 0, distance: $0) } == [-40, -65, -90, -115])
        #expect(PathLoss.strength(power: 4, distance: 0) == PathLoss.strength(power: 4, distance: 0.5))
        #expect(PathLoss.strength(power: 0, distance: .infinity) < PathLoss.sensitivity)
        #expect(PathLoss.strength(power: 0, distance: .nan) < PathLoss.sensitivity)
        for value in [0.5, 1, 2, 3.7, 1_000, 12_345.678] {
            let digits = PathLoss.decimalLogarithm(value), square = PathLoss.decimalLogarithm(value * value)
            #expect(abs(2 * digits - square) < 1e-9)
        }
    }

    @Test("The airtime of a packet depends on its PHY")
    func airTimes() {
        let times = [AirPHY.oneMegabit, .twoMegabit, .codedEight, .codedTwo].map {
            ($0.airTime(0), $0.airTime(251))
        }
        #expect(times.map(\.0) == [80_000, 44_000, 720_000, 462_000])
        #expect(times.map(\.1) == [2_088_000, 1_048_000, 16_784_000, 4_478_000])
    }

    @Test("The duplicate filter drops the oldest entry when full, and never exceeds its limit")
    func duplicateFilter() {
        var filter = DuplicateFilter()
        func key(_ index: Int) -> DuplicateFilter.Key { .init(address: Bench.address(index), detail: 0) }
        for index in 0..<5_000 {
            let isNew = filter.insert(key(index)), isNewAgain = filter.insert(key(index))
            #expect(isNew && !isNewAgain)
        }
        #expect(!filter.contains(key(4_999 - DuplicateFilter.capacity)))
        #expect((5_000 - DuplicateFilter.capacity..<5_000).allSatisfy { filter.contains(key($0)) })
    }

    @Test("A scanner backs off while its scan requests go unanswered, and resumes immediately once they are answered")
    func backoff() {
        var random = SeededGenerator(seed: 5), backoff = ScanBackoff()
        func turns(answered: Bool) -> Int {
            var asked = 0
            for _ in 0..<2_000 where backoff.countAdvertisement() {
                asked += 1
                backoff.note(answered: answered, random: &random)
            }
            return asked
        }
        let unanswered = turns(answered: false)
        _ = turns(answered: true)
        let answered = turns(answered: true)
        #expect(unanswered < 100 && answered == 2_000)
    }

    @Test("A packet is resent until it is acknowledged, and a duplicate counts once", arguments: UInt64(0)..<16)
    func acknowledgement(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ends = [Acknowledgement(), Acknowledgement()], sent = [0, 0], heard = [0, 0], acknowledged = [0, 0]
        for _ in 0..<2_000 {
            for (from, to) in [(0, 1), (1, 0)] {
                if ends[from].inFlight == nil {
                    ends[from].send(.data(count: sent[from]))
                    sent[from] += 1
                }
                guard !random.happens(0.5) else { continue }
                let payload = ends[from].inFlight, (isNew, acknowledges) = ends[to].receive(ends[from].bits)
                if isNew {
                    #expect(payload == .data(count: heard[to]))
                    heard[to] += 1
                }
                if acknowledges != nil { acknowledged[to] += 1 }
            }
        }
        for (from, to) in [(0, 1), (1, 0)] {
            #expect(heard[to] > 500 && acknowledged[from] <= heard[to] && heard[to] <= sent[from])
        }
    }
}
