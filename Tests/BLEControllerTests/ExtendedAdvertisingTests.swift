import BLEController
import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 4.4.2; Vol 4, Part E, 7.8.53 to 7.8.66.
@Suite("Extended advertising, scanning and initiating")
struct ExtendedAdvertisingTests {
    static let long = (0..<1_650).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    @Test(
        "1650 octets of advertising data arrive whole, in fragments marked as such",
        arguments: [0, 1, 229, 230, 255, 1_000, 1_650]
    )
    func lengths(count: Int) throws {
        var bench = Bench()
        let advertiser = bench.add(), scanner = bench.add()
        let data = Array(Self.long.prefix(count))
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(3, [])), advertiser)
        bench.setData(data, of: 3, advertiser)
        #expect(bench.lastStatus(advertiser) == .success)
        #expect(bench.enable(3, advertiser) == .success)
        bench.scanExtended(scanner)
        bench.run(for: .milliseconds(500))
        let whole = bench.wholeReports(scanner)
        #expect(whole.count > 10)
        let areWhole = whole.allSatisfy { $0.data == data && $0.status == .complete }
        #expect(areWhole)
        let report = try #require(bench.extendedReports(scanner).first)
        #expect(report.sid == AdvertisingSID(wire: 3) && report.address == Bench.address(advertiser))
        #expect(report.primaryPHY == .le1M && report.secondaryPHY == .le1M)
    }

    @Test("A report is marked truncated when a packet of the chain is lost", arguments: UInt64(0)..<16)
    func truncation(seed: UInt64) {
        var bench = Bench(seed: seed, loss: 0.3)
        let advertiser = bench.add(), scanner = bench.add()
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(0, [])), advertiser)
        bench.setData(Self.long, of: 0, advertiser)
        #expect(bench.enable(0, advertiser) == .success)
        bench.scanExtended(scanner)
        bench.run(for: .seconds(5))
        let whole = bench.wholeReports(scanner)
        #expect(whole.contains { $0.status == .complete } && whole.contains { $0.status == .truncated })
        let areRight = whole.allSatisfy { report in
            report.status == .complete
                ? report.data == Self.long : report.data.count < 1_650 && Self.long.starts(with: report.data)
        }
        #expect(areRight)
    }

    @Test("Each advertising set is received in its own form by scanners that look for it")
    func sets() {
        var bench = Bench()
        let advertiser = bench.add(), extended = bench.add(), legacy = bench.add()
        bench.send(
            .leSetExtendedAdvertisingParameters(Bench.parameters(0, [.legacy, .connectable, .scannable])),
            advertiser
        )
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(1, [])), advertiser)
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(2, [.anonymous])), advertiser)
        for set in UInt8(0)..<3 {
            bench.setData([2, 1, set], of: set, advertiser)
            #expect(bench.enable(set, advertiser) == .success)
        }
        bench.scanExtended(extended)
        bench.scan(legacy)
        bench.run(for: .seconds(2))
        let reports = bench.extendedReports(extended)
        for set in UInt8(0)..<3 { #expect(reports.filter { $0.data == [2, 1, set] }.count > 20) }
        #expect(reports.allSatisfy { ($0.data == [2, 1, 0]) == $0.type.contains(.legacy) })
        #expect(reports.allSatisfy { ($0.data == [2, 1, 2]) == ($0.address.kind == .anonymous) })
        #expect(!bench.reports(legacy).isEmpty)
        #expect(bench.reports(legacy).allSatisfy { $0.data == [2, 1, 0] })
    }

    @Test("A scannable set answers scan requests, and can report who sent them")
    func scannable() throws {
        var bench = Bench()
        let advertiser = bench.add(), active = bench.add(), passive = bench.add()
        let parameters = Bench.parameters(0, [.scannable], secondary: .le2M, reportsScanRequests: true)
        bench.send(.leSetExtendedAdvertisingParameters(parameters), advertiser)
        #expect(bench.enable(0, advertiser) == .commandDisallowed)
        bench.setData(Array(Self.long.prefix(600)), of: 0, isResponse: true, advertiser)
        #expect(bench.enable(0, advertiser) == .success)
        bench.scanExtended(active, type: .active)
        bench.scanExtended(passive)
        bench.run(for: .seconds(2))
        let responses = bench.extendedReports(active).filter { $0.type.contains(.scanResponse) }
        let isWhole = bench.wholeReports(active).contains { $0.data == Array(Self.long.prefix(600)) }
        #expect(isWhole && responses.allSatisfy { $0.type.contains(.scannable) && $0.secondaryPHY == .le2M })
        #expect(!bench.extendedReports(passive).contains { $0.type.contains(.scanResponse) })
        let request = HCI.LEScanRequestReceived(set: Bench.set(0), scanner: Bench.address(active))
        #expect(bench.events(advertiser).contains(.leScanRequestReceived(request)))
    }

    @Test("A connectable set on any PHY leads to a connection on that PHY", arguments: [PHY.le1M, .le2M, .leCoded])
    func connecting(phy: PHY) throws {
        var bench = Bench()
        let peripheral = bench.add(), central = bench.add()
        let parameters = Bench.parameters(
            5,
            [.connectable],
            primary: phy == .leCoded ? .leCoded : .le1M,
            secondary: phy
        )
        bench.send(.leSetExtendedAdvertisingParameters(parameters), peripheral)
        #expect(bench.enable(5, peripheral) == .success)
        bench.initiateExtended(central, to: Bench.address(peripheral), le2M: true, coded: true)
        bench.run(for: .seconds(1))
        let events = bench.events(peripheral)
        guard case .leEnhancedConnectionComplete(let event)? = events.first else {
            Issue.record("nobody is connected: \(events)")
            return
        }
        let ended = events.compactMap { event -> HCI.LEAdvertisingSetTerminated? in
            if case .leAdvertisingSetTerminated(let event) = event { event } else { nil }
        }
        #expect(ended.count == 1)
        #expect(ended.first?.status == .success && ended.first?.handle == event.handle)
        #expect(ended.first?.set == Bench.set(5))
        bench.send(.leReadPHY(.init(handle: event.handle)), peripheral)
        guard case .commandComplete(let answer)? = bench.said[peripheral].last?.event else { return }
        #expect(try answer.returned(by: HCI.LEReadPHY.self).transmit == phy)
        bench.run(for: .seconds(10))
        #expect(bench.ending(peripheral, event.handle) == nil)
    }

    @Test("The air does not run ahead of time for advertisements whose reports take longer than their interval")
    func endlessReports() {
        var bench = Bench()
        let advertiser = bench.add(), scanner = bench.add()
        bench.scanExtended(scanner)
        let parameters = Bench.parameters(0, [], secondary: .leCoded)
        bench.send(.leSetExtendedAdvertisingParameters(parameters), advertiser)
        bench.setData([UInt8](repeating: 0, count: 1_650), of: 0, advertiser)
        #expect(bench.enable(0, advertiser) == .success)
        bench.run(for: .milliseconds(100))
        var steps = 0
        while steps < 1_000, bench.air.runNext() != nil { steps += 1 }
        #expect(steps < 1_000)
        bench.run(for: .milliseconds(400))
        #expect(bench.wholeReports(scanner).contains { $0.data.count == 1_650 })
    }

    @Test("A set ends after its duration or its number of events, and the event names the set")
    func limits() throws {
        var bench = Bench()
        let advertiser = bench.add()
        for set in UInt8(0)..<2 {
            bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(set, [])), advertiser)
        }
        #expect(bench.enable(0, advertiser, duration: .init(wire: 50)) == .success)
        #expect(bench.enable(1, advertiser, events: 7) == .success)
        bench.run(for: .seconds(2))
        let ended = bench.said[advertiser].compactMap { said -> (Instant, HCI.LEAdvertisingSetTerminated)? in
            if case .leAdvertisingSetTerminated(let event) = said.event { (said.instant, event) } else { nil }
        }
        try #require(ended.count == 2)
        #expect(ended[0].1.set == Bench.set(1) && ended[0].1.status == .limitReached)
        #expect(ended[0].1.completedEvents == 7)
        #expect(ended[1].1.set == Bench.set(0) && ended[1].1.status == .advertisingTimeout)
        #expect(ended[1].0 == Instant() + .milliseconds(500))
    }

    @Test("A set that ends by itself reports its number of events only if it had an event limit")
    func completedEvents() throws {
        var bench = Bench()
        let advertiser = bench.add()
        for set in UInt8(0)..<3 {
            bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(set, [])), advertiser)
        }
        #expect(bench.enable(0, advertiser, duration: .init(wire: 50)) == .success)
        #expect(bench.enable(1, advertiser, duration: .init(wire: 50), events: 255) == .success)
        #expect(bench.enable(2, advertiser, duration: .init(wire: 50), events: 3) == .success)
        bench.run(for: .seconds(2))
        let ended = bench.said[advertiser].compactMap { said -> HCI.LEAdvertisingSetTerminated? in
            if case .leAdvertisingSetTerminated(let event) = said.event { event } else { nil }
        }
        try #require(ended.count == 3)
        for event in ended {
            switch event.set {
            case Bench.set(0): #expect((event.status, event.completedEvents) == (.advertisingTimeout, 0))
            case Bench.set(1):
                #expect(event.status == .advertisingTimeout)
                #expect((10...25).contains(event.completedEvents))
            default: #expect((event.status, event.completedEvents) == (.limitReached, 3))
            }
        }
    }

    @Test("A set that ends with a connection reports no event count", arguments: [0, 200] as [UInt8])
    func connectedEvents(limit: UInt8) throws {
        var bench = Bench()
        let peripheral = bench.add(), central = bench.add()
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(0, [.connectable])), peripheral)
        #expect(bench.enable(0, peripheral, events: limit) == .success)
        bench.run(for: .milliseconds(200))
        bench.initiateExtended(central, to: Bench.address(peripheral))
        bench.run(for: .seconds(1))
        let ended = bench.said[peripheral].compactMap { said -> HCI.LEAdvertisingSetTerminated? in
            if case .leAdvertisingSetTerminated(let event) = said.event { event } else { nil }
        }
        #expect(ended.map(\.status) == [.success])
        #expect(ended.map(\.completedEvents) == [0])
    }

    @Test(
        "A set that advertises with a random address uses its own, not the controller's",
        arguments: [HCI.OwnAddress.random, .resolvableOrRandom]
    )
    func randomAddress(own: HCI.OwnAddress) {
        var bench = Bench()
        let board = bench.add(), scanner = bench.add()
        let global = DeviceAddress(0xC0FF_EE00_0001, .random), address = DeviceAddress(0xC0FF_EE00_0002, .random)
        #expect(bench.ask(.leSetRandomAddress(.init(address: global)), board) == .success)
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(1, [], own: own)), board)
        #expect(bench.enable(1, board) == .invalidCommandParameters)
        let command = HCI.LESetAdvertisingSetRandomAddress(set: Bench.set(1), address: address)
        #expect(bench.ask(.leSetAdvertisingSetRandomAddress(command), board) == .success)
        #expect(bench.enable(1, board) == .success)
        bench.scanExtended(scanner)
        bench.run(for: .seconds(1))
        #expect(Set(bench.extendedReports(scanner).map(\.address)) == [address])
    }

    @Test("A high duty cycle directed set advertises as often as with the legacy commands, for 1.28 s")
    func highDutyCycle() {
        var bench = Bench()
        let advertiser = bench.add(), target = bench.add()
        let parameters = Bench.parameters(
            0,
            [.legacy, .connectable, .directed, .highDutyCycle],
            peer: Bench.address(target)
        )
        bench.send(.leSetExtendedAdvertisingParameters(parameters), advertiser)
        #expect(bench.enable(0, advertiser, duration: .init(wire: 128)) == .success)
        bench.scan(target)
        bench.run(for: .seconds(3))
        #expect(bench.reports(target).count > 250)
    }

    @Test("An interval of zero is valid only for high duty cycle sets", arguments: [true, false])
    func ignoredIntervals(isHigh: Bool) {
        var bench = Bench()
        let board = bench.add(), target = bench.add()
        var properties: HCI.AdvertisingProperties = [.legacy, .connectable, .directed]
        if isHigh { properties.insert(.highDutyCycle) }
        let parameters = Bench.parameters(0, properties, peer: Bench.address(target))
        var octets = HCICommandPacket.leSetExtendedAdvertisingParameters(parameters).encoded
        octets.replaceSubrange(7..<13, with: [0, 0, 0, 0, 0, 0])
        bench.send(octets, board)
        #expect(bench.lastStatus(board) == (isHigh ? .success : .invalidCommandParameters))
    }

    @Test("Commands on sets fail for the reasons that the specification gives")
    func errors() {
        var bench = Bench()
        let board = bench.add()
        let data = HCI.LESetExtendedAdvertisingData(set: Bench.set(9), data: [1])
        #expect(bench.ask(.leSetExtendedAdvertisingData(data), board) == .unknownAdvertisingIdentifier)
        #expect(bench.enable(9, board) == .unknownAdvertisingIdentifier)
        #expect(bench.ask(.leRemoveAdvertisingSet(.init(set: Bench.set(9))), board) == .unknownAdvertisingIdentifier)
        let wrong: [HCI.AdvertisingProperties] = [
            [.connectable, .scannable], [.legacy, .connectable], [.anonymous, .connectable], [.highDutyCycle],
            [.legacy, .anonymous],
        ]
        for properties in wrong {
            bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(0, properties)), board)
            #expect(bench.lastStatus(board) == .invalidCommandParameters, "\(properties)")
        }
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(0, [.legacy])), board)
        #expect(bench.lastStatus(board) == .success)
        let tooLong = HCI.LESetExtendedAdvertisingData(set: Bench.set(0), data: [UInt8](repeating: 1, count: 32))
        #expect(bench.ask(.leSetExtendedAdvertisingData(tooLong), board) == .invalidCommandParameters)
        #expect(bench.enable(0, board) == .success)
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(0, [])), board)
        #expect(bench.lastStatus(board) == .commandDisallowed)
        #expect(bench.ask(.leRemoveAdvertisingSet(.init(set: Bench.set(0))), board) == .commandDisallowed)
        #expect(bench.ask(.leClearAdvertisingSets, board) == .commandDisallowed)
        let twice = HCI.LESetExtendedAdvertisingEnable.Entry(set: Bench.set(0))
        let doubled = HCI.LESetExtendedAdvertisingEnable(enable: true, sets: [twice, twice])
        #expect(bench.ask(.leSetExtendedAdvertisingEnable(doubled), board) == .invalidCommandParameters)
        #expect(bench.ask(.leSetExtendedAdvertisingEnable(.init(enable: false, sets: [])), board) == .success)
        #expect(bench.ask(.leClearAdvertisingSets, board) == .success)
        for set in UInt8(0)..<16 {
            bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(set, [])), board)
            #expect(bench.lastStatus(board) == .success)
        }
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(16, [])), board)
        #expect(bench.lastStatus(board) == .memoryCapacityExceeded)
        for _ in 0..<7 {
            let piece = HCI.LESetExtendedAdvertisingData(
                set: Bench.set(0),
                operation: .intermediate,
                data: [UInt8](repeating: 0, count: 251)
            )
            bench.send(.leSetExtendedAdvertisingData(piece), board)
            #expect(bench.lastStatus(board) == .commandDisallowed)
        }
    }

    @Test("A connectable set holds as much data as fits in one packet", arguments: [245, 246])
    func connectableData(count: Int) {
        var bench = Bench()
        let board = bench.add(), scanner = bench.add()
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(0, [.connectable])), board)
        bench.setData(Array(Self.long.prefix(count)), of: 0, board)
        #expect(bench.enable(0, board) == (count == 245 ? .success : .packetTooLong))
        bench.scanExtended(scanner)
        bench.run(for: .milliseconds(200))
        let isWhole = bench.wholeReports(scanner).first?.data == Array(Self.long.prefix(count))
        #expect(isWhole == (count == 245))
    }

    @Test("Data that exceeds the limit is refused")
    func overflow() {
        var bench = Bench()
        let board = bench.add()
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(0, [])), board)
        bench.setData(Self.long + [0], of: 0, board)
        #expect(bench.lastStatus(board) == .memoryCapacityExceeded)
    }

    @Test("A scan ends with an event after its duration, or restarts each period with an empty duplicate filter")
    func scanPeriods() {
        var bench = Bench()
        let advertiser = bench.add(), once = bench.add(), again = bench.add(), filtered = bench.add()
        bench.send(.leSetExtendedAdvertisingParameters(Bench.parameters(0, [])), advertiser)
        #expect(bench.enable(0, advertiser) == .success)
        bench.scanExtended(once, enable: .init(enable: true, duration: .init(wire: 50)))
        let period = ScanPeriod(wire: 1), duration = EnableDuration(wire: 50)
        let resetting = HCI.LESetExtendedScanEnable(
            enable: true,
            filterDuplicates: .resetEachPeriod,
            duration: duration,
            period: period
        )
        bench.scanExtended(again, enable: resetting)
        let keeping = HCI.LESetExtendedScanEnable(
            enable: true,
            filterDuplicates: .on,
            duration: duration,
            period: period
        )
        bench.scanExtended(filtered, enable: keeping)
        bench.run(for: .milliseconds(12_800 - 1))
        #expect(bench.said[once].last?.event == .leScanTimeout)
        #expect(bench.said[once].last?.instant == Instant() + .milliseconds(500))
        #expect(bench.extendedReports(again).count == 10)
        #expect(bench.extendedReports(filtered).count == 1)
    }
}
