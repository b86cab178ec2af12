import BLEWire
import Testing

@testable import BLEHost

@Suite("Sightings")
struct SightingsTests {
    private func sighting(_ number: Int) -> Sighting {
        let nothing: [UInt8] = []
        return Sighting(HeardAdvertisement(address: address(number)), nothing.span)
    }

    private func address(_ number: Int) -> DeviceAddress { DeviceAddress(UInt64(number), .random) }

    @Test("Who was not heard for long gives its place up, and nobody who waits")
    func forgetting() {
        var sightings = Sightings(capacity: 8, secret: 1)
        let first = sightings.insert(sighting(0)), second = sightings.insert(sighting(1))
        sightings.wait(second, since: Instant())
        for number in 2..<1_000 {
            sightings.passedOver(first)
            _ = sightings.insert(sighting(number))
            if number < 8 { continue }
            #expect(sightings.count == 8)
            #expect(sightings.place(of: address(number - 8)) == nil || number - 8 < 2)
        }
        #expect(sightings.place(of: address(1)) == second)
        #expect(sightings.place(of: address(999)) != nil)
    }

    private func report(_ data: [UInt8], _ rssi: RSSI) -> AdvertisementReport {
        let peer = PeerIdentifier(rawValue: 1)
        return AdvertisementReport(peer: peer, address: address(1), isConnectable: false, rssi: rssi, data: data)
    }

    @Test("Data that were heard before are told with the same report, others with another one")
    func reports() {
        let data: [UInt8] = [1, 2, 3], response: [UInt8] = [9], weak = RSSI(dBm: -70)
        let first = HeardAdvertisement(address: address(1), rssi: RSSI(dBm: -40))
        let second = HeardAdvertisement(address: address(1), rssi: weak)
        let third = HeardAdvertisement(address: address(1), isConnectable: true)
        let report = report(data, first.rssi)
        var sighting = Sighting(first, data.span)
        var kept = sighting.report(revision: 0)
        #expect(kept == nil)
        sighting.told(report, revision: 5)
        kept = sighting.report(revision: 5)
        #expect(kept?.repeats(report) == true)
        kept = sighting.report(revision: 6)
        #expect(kept == nil)
        #expect(sighting.earlier(revision: 5) == report && sighting.earlier(revision: 6) == nil)
        var isNew = sighting.advertised(second, data.span)
        #expect(!isNew)
        kept = sighting.report(revision: 5)
        #expect(kept == report.heard(weak))
        let answer = sighting.responded(weak, response.span)
        #expect(answer == .new)
        kept = sighting.report(revision: 5)
        #expect(kept == nil)
        #expect(sighting.allData == [1, 2, 3, 9])
        isNew = sighting.advertised(third, data.span)
        #expect(isNew)
        isNew = sighting.advertised(third, response.span)
        #expect(isNew)
        kept = sighting.report(revision: 5)
        #expect(kept == nil)
    }

    @Test("Long data are not kept once they were told, and no late response is added to them")
    func longData() {
        let data = [UInt8](repeating: 1, count: 97), response: [UInt8] = [9], nothing: [UInt8] = []
        let advertisement = HeardAdvertisement(address: address(1), isScannable: true)
        var sighting = Sighting(advertisement, data.span)
        sighting.told(report(data, .unavailable), revision: 5)
        let kept = sighting.report(revision: 5), answer = sighting.responded(.unavailable, response.span)
        #expect(kept == nil)
        #expect(answer == .late)
        var isNew = sighting.advertised(advertisement, nothing.span)
        #expect(isNew)
        isNew = sighting.advertised(advertisement, data.span)
        #expect(isNew)
        #expect(sighting.allData == data)
    }

    @Test("Octets are compared to the last one", arguments: 0..<70)
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
