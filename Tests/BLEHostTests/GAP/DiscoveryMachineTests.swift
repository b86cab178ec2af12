import BLEWire
import Testing

@testable import BLEHost

@Suite("Delivery of advertisements to clients")
struct DiscoveryMachineTests {
    static let client = ClientID(rawValue: 1), other = ClientID(rawValue: 2)

    var discovery = Discovery(limits: Limits())
    var peers = PeerTable(secret: 1, records: [], limits: Limits())
    var outbox = HostOutbox()

    mutating func hear(
        _ data: [UInt8],
        from address: UInt64 = 1,
        isScannable: Bool = false,
        isScanResponse: Bool = false,
        at milliseconds: Int = 0
    ) {
        var advertisement = ReceivedAdvertisement(address: DeviceAddress(address, .random))
        (advertisement.isScannable, advertisement.isScanResponse) = (isScannable, isScanResponse)
        let now = Instant() + .milliseconds(milliseconds)
        discovery.receive(advertisement, data.span, at: now, with: &peers, into: &outbox)
    }

    /// Who has heard of what since this was asked last.
    mutating func heard() -> [(client: ClientID, data: [UInt8])] {
        var heard: [(client: ClientID, data: [UInt8])] = []
        while let output = outbox.next() {
            if case .event(.discovered(let report), let client) = output { heard.append((client, report.octets.all)) }
        }
        return heard
    }

    @Test("Each client receives an advertiser's report once, or every report, and again when its data changes")
    mutating func duplicates() {
        discovery.start(ScanRequest(), for: Self.client)
        discovery.start(ScanRequest(allowsDuplicates: true), for: Self.other)
        #expect(discovery.isWanted && discovery.wantsDuplicates)
        for _ in 0..<3 { hear([2, 1, 6]) }
        let heard = heard()
        #expect(heard.count { $0.client == Self.client } == 1)
        #expect(heard.count { $0.client == Self.other } == 3)
        discovery.start(ScanRequest(), for: Self.client)
        hear([2, 1, 6])
        let again = self.heard()
        #expect(again.map(\.client) == [Self.client, Self.other], "who scans anew has heard of nobody")
    }

    @Test("An advertisement waits for its scan response, up to the limit")
    mutating func waiting() {
        discovery.start(ScanRequest(), for: Self.client)
        hear([2, 1, 6], isScannable: true)
        let early = heard()
        #expect(early.isEmpty && discovery.deadline == Instant() + ScanResponseWaits.maximumWait)
        hear([2, 0x0A, 4], isScanResponse: true, at: 1)
        let both = heard()
        #expect(both.map(\.data) == [[2, 1, 6, 2, 0x0A, 4]] && discovery.deadline == nil)
        hear([2, 1, 5], from: 2, isScannable: true, at: 20)
        discovery.expire(at: Instant() + .milliseconds(29), with: &peers, into: &outbox)
        let before = heard()
        discovery.expire(at: Instant() + .milliseconds(30), with: &peers, into: &outbox)
        let alone = heard()
        #expect(before.isEmpty && alone.map(\.data) == [[2, 1, 5]])
        hear([2, 0x0A, 8], from: 2, isScanResponse: true, at: 40)
        let late = heard()
        #expect(late.map(\.data) == [[2, 1, 5, 2, 0x0A, 8]], "it hears of the response again")
    }

    @Test("After three missing scan responses, a device's advertisements are reported immediately until it responds")
    mutating func unanswered() {
        discovery.start(ScanRequest(allowsDuplicates: true), for: Self.client)
        for time in [0, 100, 200] {
            hear([2, 1, 6], isScannable: true, at: time)
            let early = heard()
            #expect(early.isEmpty)
            discovery.expire(at: Instant() + .milliseconds(time + 10), with: &peers, into: &outbox)
            #expect(heard().map(\.data) == [[2, 1, 6]])
        }
        hear([2, 1, 6], isScannable: true, at: 300)
        #expect(heard().map(\.data) == [[2, 1, 6]] && discovery.deadline == nil)
        hear([2, 0x0A, 4], isScanResponse: true, at: 301)
        #expect(heard().map(\.data) == [[2, 1, 6, 2, 0x0A, 4]])
        hear([2, 1, 6], isScannable: true, at: 400)
        #expect(heard().isEmpty && discovery.deadline != nil, "it answered, and may do so again")
    }

    @Test("A filter passes only advertisers that offer one of its services")
    mutating func filters() {
        discovery.start(ScanRequest(services: [.short(0x180F)]), for: Self.client)
        hear([3, 3, 0x0D, 0x18])
        hear([3, 3, 0x0F, 0x18], from: 2)
        let heard = heard()
        #expect(heard.map(\.data) == [[3, 3, 0x0F, 0x18]])
    }

    @Test("The oldest waiting report is delivered when too many wait, and a client that stopped receives none")
    mutating func limits() {
        var limits = Limits()
        limits.waitingReports = 4
        discovery = Discovery(limits: limits)
        discovery.start(ScanRequest(), for: Self.client)
        for address in 1...6 as ClosedRange<UInt64> { hear([2, 1, UInt8(address)], from: address, isScannable: true) }
        let crowded = heard()
        #expect(crowded.map(\.data.last) == [1, 2])
        discovery.stop(Self.client)
        discovery.expire(at: Instant() + .seconds(1), with: &peers, into: &outbox)
        hear([2, 1, 9], from: 9)
        let none = heard()
        #expect(none.isEmpty && !discovery.isWanted && discovery.deadline == nil)
    }
}
