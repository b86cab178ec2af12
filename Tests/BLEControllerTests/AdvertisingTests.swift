import BLEController
import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 4.4.2 and 4.4.3.
@Suite("Legacy advertising and scanning")
struct AdvertisingTests {
    @Test("Advertising that no controller listens to pauses if asked for, and goes on when one listens")
    func pausing() {
        var bench = Bench()
        for _ in 0..<3 { bench.add() }
        bench.air.pauseUnheardAdvertising()
        bench.advertise(0)
        bench.advertise(1)
        bench.run(for: .seconds(10))
        #expect(bench.air.deadline == nil)
        bench.scan(2)
        bench.run(for: .seconds(10))
        #expect(Set(bench.reports(2).map(\.address)) == [Bench.address(0), Bench.address(1)])
        bench.send(.leSetScanEnable(.init(enable: false, filterDuplicates: false)), 2)
        bench.run(for: .seconds(10))
        #expect(bench.air.deadline == nil)
        bench.air.recordsAir = true
        bench.run(for: .seconds(10))
        #expect(Set(bench.records.map(\.sender.rawValue)) == [0, 1])
    }

    @Test("Advertising pauses only if asked for, and not while packets are recorded", arguments: [true, false])
    func notPausing(records: Bool) {
        var bench = Bench()
        bench.add()
        bench.air.recordsAir = records
        if records { bench.air.pauseUnheardAdvertising() }
        bench.advertise(0)
        bench.run(for: .seconds(10))
        #expect(bench.air.deadline != nil)
    }

    static let kinds: [(type: HCI.AdvertisingType, report: HCI.LEAdvertisingReport.EventType)] = [
        (.connectable, .connectable), (.scannable, .scannable), (.nonConnectable, .nonConnectable),
    ]

    @Test("A scanner reports each kind of advertisement with its address, data and RSSI", arguments: kinds.indices)
    func reports(index: Int) throws {
        var bench = Bench()
        let advertiser = bench.add(), scanner = bench.add(at: Position(x: 10))
        bench.advertise(advertiser, type: Self.kinds[index].type, data: [3, 9, 0x41, 0x42])
        bench.scan(scanner)
        bench.run(for: .seconds(10))
        let reports = bench.reports(scanner)
        // An event every 20 to 30 ms, of which one packet in three meets the receiver on its channel.
        #expect(300...600 ~= reports.count)
        #expect(reports.allSatisfy { $0.type == Self.kinds[index].report && $0.data == [3, 9, 0x41, 0x42] })
        #expect(reports.allSatisfy { $0.address == Bench.address(advertiser) })
        // 40 dB at one metre and 25 more at ten.
        let strengths = Set(reports.compactMap { $0.rssi.dBm })
        #expect(strengths == [-67, -66, -65, -64, -63])
    }

    @Test(
        "An active scanner receives the scan response, and a passive one does not",
        arguments: [HCI.ScanType.active, .passive]
    )
    func scanResponses(type: HCI.ScanType) {
        var bench = Bench()
        let advertiser = bench.add(), scanner = bench.add()
        bench.advertise(advertiser, response: [2, 0x0A, 4])
        bench.scan(scanner, type: type)
        bench.run(for: .seconds(1))
        let responses = bench.reports(scanner).filter { $0.type == .scanResponse }
        #expect(responses.isEmpty == (type == .passive))
        #expect(responses.allSatisfy { $0.data == [2, 0x0A, 4] })
    }

    @Test(
        "With duplicate filtering on, each advertiser and each scan response is reported once",
        arguments: UInt64(0)..<16
    )
    func duplicates(seed: UInt64) {
        var bench = Bench(seed: seed, loss: 0.2)
        for _ in 0..<20 {
            let board = bench.add()
            bench.advertise(board, response: [2, 0x0A, 4])
        }
        let scanner = bench.add()
        bench.scan(scanner, type: .active, filterDuplicates: true)
        bench.run(for: .seconds(30))
        let reports = bench.reports(scanner)
        for type in [HCI.LEAdvertisingReport.EventType.connectable, .scanResponse] {
            let heard = reports.filter { $0.type == type }.map(\.address).sorted()
            #expect(heard == (0..<20).map(Bench.address))
        }
    }

    @Test("With the accept list as the filter policy, no other advertisers are reported")
    func acceptList() {
        var bench = Bench()
        let wanted = bench.add(), other = bench.add(), scanner = bench.add()
        bench.advertise(wanted)
        bench.advertise(other)
        bench.send(.leAddDeviceToFilterAcceptList(.init(address: Bench.address(wanted))), scanner)
        bench.scan(scanner, policy: .acceptList)
        bench.run(for: .seconds(1))
        #expect(Set(bench.reports(scanner).map(\.address)) == [Bench.address(wanted)])
    }

    @Test("An advertiser can restrict its scan response to its accept list")
    func scanPolicy() {
        var bench = Bench()
        let advertiser = bench.add(), friend = bench.add(), stranger = bench.add()
        bench.send(.leAddDeviceToFilterAcceptList(.init(address: Bench.address(friend))), advertiser)
        bench.advertise(advertiser, response: [1, 8], policy: .scansFromAcceptList)
        bench.scan(friend, type: .active)
        bench.scan(stranger, type: .active)
        bench.run(for: .seconds(2))
        #expect(bench.reports(friend).contains { $0.type == .scanResponse })
        #expect(!bench.reports(stranger).contains { $0.type == .scanResponse })
        #expect(bench.reports(stranger).contains { $0.type == .connectable })
    }

    @Test("A directed advertisement reaches only its target")
    func directed() {
        var bench = Bench()
        let advertiser = bench.add(), target = bench.add(), stranger = bench.add()
        bench.advertise(advertiser, type: .directedLowDutyCycle, peer: Bench.address(target))
        bench.scan(target)
        bench.scan(stranger)
        bench.run(for: .seconds(1))
        #expect(bench.reports(target).contains { $0.type == .directed && $0.data.isEmpty })
        #expect(bench.reports(stranger).isEmpty)
        bench.initiate(stranger, to: Bench.address(advertiser))
        bench.run(for: .seconds(2))
        #expect(!bench.events(stranger).contains { if case .leEnhancedConnectionComplete = $0 { true } else { false } })
    }

    @Test("High duty cycle directed advertising ends after 1.28 s with an event")
    func highDutyCycle() throws {
        var bench = Bench()
        let advertiser = bench.add(), target = bench.add()
        let start = bench.now
        bench.advertise(advertiser, type: .directedHighDutyCycle, peer: Bench.address(target))
        bench.scan(target)
        bench.run(for: .seconds(3))
        #expect(bench.reports(target).count > 250)
        let last = try #require(bench.said[advertiser].last)
        guard case .leEnhancedConnectionComplete(let event) = last.event else {
            Issue.record("the last event is another: \(last)")
            return
        }
        #expect(event.status == .advertisingTimeout && event.role == .peripheral)
        #expect(last.instant == start + .milliseconds(1_280))
    }

    @Test(
        "An interval of zero is valid only for high duty cycle directed advertising",
        arguments: [HCI.AdvertisingType.directedHighDutyCycle, .directedLowDutyCycle]
    )
    func ignoredIntervals(type: HCI.AdvertisingType) {
        var bench = Bench()
        let board = bench.add()
        var parameters = HCI.LESetAdvertisingParameters()
        parameters.type = type
        parameters.peer = Bench.address(1)
        var octets = HCICommandPacket.leSetAdvertisingParameters(parameters).encoded
        octets.replaceSubrange(4..<8, with: [0, 0, 0, 0])
        bench.send(octets, board)
        #expect(bench.lastStatus(board) == (type == .directedHighDutyCycle ? .success : .invalidCommandParameters))
    }

    @Test("An advertiser is received only while it is in range")
    func distance() {
        var bench = Bench()
        let advertiser = bench.add(at: Position(x: 400)), scanner = bench.add()
        bench.advertise(advertiser)
        bench.scan(scanner)
        bench.run(for: .seconds(2))
        #expect(bench.reports(scanner).isEmpty)
        bench.air.move(ControllerID(rawValue: advertiser), to: Position(x: 20))
        bench.run(for: .seconds(2))
        #expect(!bench.reports(scanner).isEmpty)
    }

    @Test("A scanner receives nothing outside its scan window")
    func windows() {
        var bench = Bench()
        let advertiser = bench.add(), full = bench.add(), tenth = bench.add()
        bench.advertise(advertiser)
        bench.scan(full)
        let parameters = HCI.LESetScanParameters(
            type: .passive,
            interval: ScanInterval(.milliseconds(100)),
            window: ScanInterval(.milliseconds(10))
        )
        bench.send(.leSetScanParameters(parameters), tenth)
        bench.send(.leSetScanEnable(.init(enable: true)), tenth)
        bench.run(for: .seconds(100))
        let (all, some) = (bench.reports(full).count, bench.reports(tenth).count)
        #expect(all / 12...all / 8 ~= some)
    }

    @Test("Advertising events are 0 to 10 ms more than the interval apart, on three channels each")
    func spacing() {
        var bench = Bench()
        let advertiser = bench.add()
        bench.air.recordsAir = true
        bench.advertise(advertiser)
        bench.run(for: .seconds(5))
        let starts = bench.records.filter { $0.channel == 37 }.map(\.instant)
        let gaps = zip(starts.dropFirst(), starts).map { $0 - $1 }
        #expect(gaps.allSatisfy { .milliseconds(20) ... .milliseconds(30) ~= $0 })
        #expect(Set(gaps).count > gaps.count / 2)
        #expect(bench.records.map(\.channel).prefix(6) == [37, 38, 39, 37, 38, 39])
        #expect(bench.records.allSatisfy { $0.receptions.isEmpty && $0.accessAddress == 0x8E89_BED6 })
    }
}
