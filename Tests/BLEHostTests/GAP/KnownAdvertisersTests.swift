import BLEWire
import Testing

@testable import BLEHost

@Suite("KnownAdvertisers")
struct KnownAdvertisersTests {
    private func advertiser(_ number: Int) -> KnownAdvertiser {
        let nothing: [UInt8] = []
        return KnownAdvertiser(ReceivedAdvertisement(address: address(number)), nothing.span)
    }

    private func address(_ number: Int) -> DeviceAddress { DeviceAddress(UInt64(number), .random) }

    @Test("Advertisers not received for longest are dropped, but never those that wait for a response")
    func forgetting() {
        var advertisers = KnownAdvertisers(capacity: 8, secret: 1)
        let first = advertisers.insert(advertiser(0)), second = advertisers.insert(advertiser(1))
        advertisers.wait(second, since: Instant())
        for number in 2..<1_000 {
            advertisers.noteReceived(first)
            _ = advertisers.insert(advertiser(number))
            if number < 8 { continue }
            #expect(advertisers.count == 8)
            #expect(advertisers.index(of: address(number - 8)) == nil || number - 8 < 2)
        }
        #expect(advertisers.index(of: address(1)) == second)
        #expect(advertisers.index(of: address(999)) != nil)
    }

    private func report(_ data: [UInt8], _ rssi: RSSI) -> AdvertisementReport {
        AdvertisementReport(
            peer: PeerIdentifier(rawValue: 1),
            address: address(1),
            isConnectable: false,
            rssi: rssi,
            octets: AdvertisementOctets(advertisement: data)
        )
    }

    @Test("Repeated data is reported with the same report, and changed data with a new one")
    func reports() {
        let data: [UInt8] = [1, 2, 3], response: [UInt8] = [9], weak = RSSI(dBm: -70)
        let first = ReceivedAdvertisement(address: address(1), rssi: RSSI(dBm: -40))
        let second = ReceivedAdvertisement(address: address(1), rssi: weak)
        let third = ReceivedAdvertisement(address: address(1), isConnectable: true)
        let report = report(data, first.rssi)
        var advertiser = KnownAdvertiser(first, data.span)
        var kept = advertiser.report(revision: 0)
        #expect(kept == nil)
        advertiser.noteReported(report, revision: 5)
        kept = advertiser.report(revision: 5)
        #expect(kept?.repeats(report) == true)
        kept = advertiser.report(revision: 6)
        #expect(kept == nil)
        #expect(advertiser.lastReport(revision: 5) == report && advertiser.lastReport(revision: 6) == nil)
        var isNew = advertiser.advertised(second, data.span)
        #expect(!isNew)
        kept = advertiser.report(revision: 5)
        #expect(kept == report.withRSSI(weak))
        let answer = advertiser.responded(weak, response.span)
        #expect(answer == .new)
        kept = advertiser.report(revision: 5)
        #expect(kept == nil)
        #expect(advertiser.octets == AdvertisementOctets(advertisement: data, scanResponse: response))
        isNew = advertiser.advertised(third, data.span)
        #expect(isNew)
        isNew = advertiser.advertised(third, response.span)
        #expect(isNew)
        kept = advertiser.report(revision: 5)
        #expect(kept == nil)
    }

    @Test("Long data is not stored once reported, and a late scan response is not merged into it")
    func longData() {
        let data = [UInt8](repeating: 1, count: 97), response: [UInt8] = [9], nothing: [UInt8] = []
        let advertisement = ReceivedAdvertisement(address: address(1), isScannable: true)
        var advertiser = KnownAdvertiser(advertisement, data.span)
        advertiser.noteReported(report(data, .unavailable), revision: 5)
        let kept = advertiser.report(revision: 5), answer = advertiser.responded(.unavailable, response.span)
        #expect(kept == nil)
        #expect(answer == .late)
        var isNew = advertiser.advertised(advertisement, nothing.span)
        #expect(isNew)
        isNew = advertiser.advertised(advertisement, data.span)
        #expect(isNew)
        #expect(advertiser.octets == AdvertisementOctets(advertisement: data))
    }

    @Test("Octets are compared up to the last one", arguments: 0..<70)
    func octets(count: Int) {
        let octets = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }, longer = octets + [0]
        let isSame = octets.span.hasSameOctets(as: octets.span), isLonger = octets.span.hasSameOctets(as: longer.span)
        #expect(isSame && !isLonger)
        for index in octets.indices {
            var other = octets
            other[index] ^= 0x80
            let isSame = octets.span.hasSameOctets(as: other.span)
            #expect(!isSame)
        }
    }
}
