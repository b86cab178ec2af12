import BLEController
import BLECrypto
import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 6.1; Vol 4, Part E, 7.8.45.
@Suite("Private address rotation")
struct RotationTests {
    /// Has a private device advertise, whose controller knows one peer.
    private static func advertise(in bench: inout Bench) -> (advertiser: Int, peer: DeviceAddress) {
        let advertiser = bench.addPrivate(), peer = Bench.address(1)
        bench.list(1, on: advertiser)
        bench.advertise(advertiser, own: .resolvableOrPublic, peer: peer)
        return (advertiser, peer)
    }

    @Test("An advertiser's address changes only when the timeout expires", arguments: UInt64(0)..<16, Form.allCases)
    func rotation(seed: UInt64, form: Form) throws {
        var bench = Bench(seed: seed)
        let advertiser = bench.addPrivate()
        bench.list(1, on: advertiser)
        let seconds = UInt16(2 + seed % 5)
        let timeout = try #require(PrivateAddressTimeout(wire: seconds))
        bench.send(.leSetResolvablePrivateAddressTimeout(.init(timeout: timeout)), advertiser)
        bench.air.recordsAir = true
        bench.announce(form, advertiser, own: .resolvableOrPublic, peer: Bench.address(1))
        // The packets with an address, of which extended advertisements have one an event.
        bench.scanExtended(bench.add())
        bench.run(for: .seconds(30))
        let sent = bench.sent(advertiser)
        var changes = [try #require(sent.first?.instant)]
        for (before, after) in zip(sent, sent.dropFirst()) where before.own != after.own {
            changes.append(after.instant)
        }
        let turns = 30 / Int(seconds) + (30 % Int(seconds) == 0 ? 0 : 1)
        #expect(changes.count == turns)
        for (before, after) in zip(changes, changes.dropFirst()) {
            // The next event that is heard is some time after the change, as that after the change before was.
            #expect(.milliseconds(-100) ... .milliseconds(100) ~= after - before - .seconds(Int(seconds)))
        }
        #expect(Set(sent.map(\.own)).count == turns)
        #expect(sent.allSatisfy { RandomAddress.isMade($0.own, with: Bench.key(advertiser)) })
    }

    @Test("An address lasts fifteen minutes by default")
    func standard() throws {
        var bench = Bench()
        let (advertiser, peer) = Self.advertise(in: &bench)
        bench.run(for: .milliseconds(50))
        let first = try bench.readAddress(of: peer, isLocal: true, advertiser)
        bench.run(until: Instant() + .seconds(900))
        let same = try bench.readAddress(of: peer, isLocal: true, advertiser)
        bench.run(until: Instant() + .milliseconds(900_050))
        let next = try bench.readAddress(of: peer, isLocal: true, advertiser)
        #expect(first != nil && first == same && next != nil && next != first)
    }

    @Test("A shorter timeout immediately replaces an address that is already older")
    func shorter() throws {
        var bench = Bench()
        let (advertiser, peer) = Self.advertise(in: &bench)
        bench.run(for: .seconds(100))
        let first = try bench.readAddress(of: peer, isLocal: true, advertiser)
        let timeout = try #require(PrivateAddressTimeout(wire: 60))
        bench.send(.leSetResolvablePrivateAddressTimeout(.init(timeout: timeout)), advertiser)
        bench.run(for: .nanoseconds(1))
        let next = try bench.readAddress(of: peer, isLocal: true, advertiser)
        #expect(first != nil && next != nil && next != first)
    }

    @Test("An idle controller has no deadline, and a reset controller has no private address")
    func idle() throws {
        var bench = Bench()
        let (advertiser, peer) = Self.advertise(in: &bench)
        bench.run(for: .seconds(1))
        bench.send(.leSetAdvertisingEnable(.init(enable: false)), advertiser)
        bench.run(for: .seconds(2_000))
        #expect(bench.air.deadline == nil)
        let none = try bench.readAddress(of: peer, isLocal: true, advertiser)
        #expect(none == nil)
        bench.send(.leSetAdvertisingEnable(.init(enable: true)), advertiser)
        bench.run(for: .seconds(1))
        #expect(bench.ask(.reset, advertiser) == .success)
        bench.list(1, on: advertiser)
        let forgotten = try bench.readAddress(of: peer, isLocal: true, advertiser)
        #expect(forgotten == nil)
    }
}
