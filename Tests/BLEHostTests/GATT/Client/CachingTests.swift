import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part G, 2.5.2, 7.1 and 7.3.
@Suite("Cached database of a peer")
struct CachingTests {
    typealias Server = BondedPair.Server

    static let services: [BluetoothUUID] = [GATT.genericAttribute, .short(0xB000), .short(0xB001)]

    /// A pair whose client has gone through the database on an earlier link.
    private func makeReturning(isBonded: Bool = true, _ server: Server = Server()) -> BondedPair {
        var pair = BondedPair(isBonded: isBonded)
        pair.connect(server)
        #expect(pair.walk() == Self.services)
        pair.rest()
        pair.disconnect()
        return pair
    }

    @Test("On reconnecting to a bonded peer, two round trips are enough before an app can read")
    func secondLink() {
        var pair = makeReturning()
        #expect(pair.bond?.database != nil)
        pair.connect()
        #expect(pair.walk() == Self.services)
        #expect(pair.requests.map(\.first) == [0x02, 0x08])
        #expect(pair.ask(.read(Server.value(of: 1))) == [.valueRead(Server.value(of: 1), .success([1]))])
        #expect(pair.roundTrips == 3)
    }

    @Test("Repeated discovery returns the current services, on such a link too")
    func secondLook() {
        var pair = makeReturning()
        pair.connect()
        pair.walk()
        let before = pair.roundTrips
        #expect(pair.walk() == Self.services)
        #expect(pair.roundTrips > before)
        pair.rest()
        let watched = pair.roundTrips
        #expect(pair.walk() == Self.services)
        #expect(pair.roundTrips == watched)
    }

    @Test("A peer with another database is discovered again, and the cached one is dropped")
    func mismatch() {
        var pair = makeReturning()
        pair.connect(Server(hash: 2, services: [0xC000]))
        #expect(pair.bond?.database == nil)
        #expect(pair.walk() == [GATT.genericAttribute, .short(0xC000)])
        #expect(pair.roundTrips > 2)
        pair.rest()
        #expect(pair.bond?.database != nil)
    }

    @Test("On reconnecting soon to a peer that is not bonded, two round trips are enough, too")
    func unbonded() {
        var pair = makeReturning(isBonded: false)
        for _ in 0..<3 {
            pair.connect()
            #expect(pair.walk() == Self.services)
            #expect(pair.requests.map(\.first) == [0x02, 0x08])
            #expect(pair.pair.central.others.allSatisfy { if case .bondChanged = $0 { false } else { true } })
            pair.disconnect()
            pair.pair.advance(by: .seconds(599))
        }
    }

    @Test("A peer that is not bonded is discovered again if its database has changed, or after ten minutes")
    func unbondedChange() {
        var changed = makeReturning(isBonded: false)
        changed.connect(Server(hash: 2, services: [0xC000]))
        #expect(changed.walk() == [GATT.genericAttribute, .short(0xC000)])
        var late = makeReturning(isBonded: false)
        late.pair.advance(by: .seconds(600))
        late.connect()
        #expect(late.requests.map(\.first) == [0x02])
        #expect(late.walk() == Self.services)
        #expect(late.roundTrips > 2)
    }

    @Test("What a peer had before it was bonded is not used on the link on which it proves the bond")
    func provedLater() {
        var pair = makeReturning(isBonded: false)
        pair.bond = BondedPair().bond
        pair.connect(Server(services: [0xC000]))
        #expect(pair.walk() == [GATT.genericAttribute, .short(0xC000)])
    }

    @Test("A peer without a database hash is discovered on every link, and asked for the hash at most once a link")
    func withoutHash() {
        var pair = makeReturning(Server(hash: nil))
        #expect(pair.bond?.database == nil)
        pair.connect(Server(hash: nil, services: [0xC000]))
        #expect(pair.walk() == [GATT.genericAttribute, .short(0xC000)])
        pair.rest()
        #expect(pair.requests.count { $0 == [UInt8]("08 0100 ffff 2a2b") } == 1)
        var changed = makeReturning()
        changed.connect(Server(hash: nil, services: [0xC000]))
        #expect(changed.bond?.database == nil)
        #expect(changed.walk() == [GATT.genericAttribute, .short(0xC000)])
    }

    @Test("Attributes discovered before bonding are discovered again before they are stored", arguments: [false, true])
    func bondedLater(isConfirmed: Bool) {
        var pair = BondedPair(isBonded: false)
        pair.connect()
        pair.walk()
        if isConfirmed { pair.rest() }
        let before = pair.roundTrips
        pair.bond = BondedPair().bond
        if let bond = pair.bond { pair.pair.central.layer.bonded(AttributePair.link, bond, at: pair.pair.now) }
        pair.rest()
        #expect(pair.requests[before...].contains { $0.first == 0x10 })
        pair.disconnect()
        #expect(pair.bond?.database != nil)
        pair.connect()
        #expect(pair.walk() == Self.services)
        #expect(pair.roundTrips == 2)
    }

    @Test("A silent change of the database is detected by its hash, and the old database is not kept")
    func silentChange() {
        var pair = BondedPair()
        pair.connect(Server(changesAreTold: false))
        pair.walk()
        pair.pair.advance(by: .milliseconds(600))
        let before = pair.pair.central.events.count
        pair.replace(by: Server(hash: 2, changesAreTold: false, services: [0xC000]))
        #expect(pair.walk() == [GATT.genericAttribute, .short(0xC000)])
        pair.rest()
        let events = pair.pair.central.events[before...].compactMap(\.event.peerEvent)
        #expect(events.contains(.servicesModified(.all)))
        pair.disconnect()
        pair.connect(Server(changesAreTold: false))
        #expect(pair.walk() == Self.services)
    }

    @Test("After a Service Changed indication, only the affected services are requested again")
    func serviceChanged() {
        var pair = makeReturning()
        pair.connect()
        pair.walk()
        pair.rest()
        #expect(pair.walk() == Self.services)
        let before = pair.roundTrips
        pair.pair.peripheral.layer.send(
            [0x20, 0, 0x23, 0],
            of: Server.serviceChanged,
            .indications,
            on: AttributePair.link,
            at: pair.pair.now
        )
        pair.pair.settle()
        #expect(pair.pair.central.events.last?.event.peerEvent == .servicesModified(range(0x20, 0x23)))
        #expect(pair.roundTrips == before)
        #expect(pair.walk() == Self.services)
        let asked = pair.requests[before...].map(\.hexadecimal)
        #expect(asked == ["10200023000028", "082100ffff0328", "042300ffff"])
    }

    @Test("A forgotten database is discovered and stored again", arguments: [false, true])
    func forgotten(isWatched: Bool) {
        var pair = makeReturning()
        pair.connect()
        pair.walk()
        if isWatched { pair.rest() }
        let before = pair.roundTrips
        #expect(pair.ask(.forgetDatabase) == [.databaseForgotten(nil)])
        #expect(pair.roundTrips == before)
        #expect(pair.bond?.database == nil)
        #expect(pair.walk() == Self.services)
        #expect(pair.requests[before...].map(\.first).contains(0x10))
        pair.rest()
        #expect(pair.bond?.database != nil)
        pair.disconnect()
        pair.connect()
        #expect(pair.walk() == Self.services)
        #expect(pair.roundTrips == 2)
    }

    @Test("A client that forgets the database receives no more values, and other clients are unaffected")
    func forgottenByOne() {
        var pair = BondedPair()
        let other = ClientID(rawValue: 7), value = Server.serviceChanged
        pair.connect()
        pair.pair.central.layer.attach(other, to: AttributePair.link)
        pair.walk()
        for client in [AttributePair.app, other] {
            _ = pair.pair.ask(.subscribe(.indications, to: value, in: range(4, 4)), for: client)
        }
        let before = pair.pair.central.events.count
        _ = pair.ask(.forgetDatabase)
        let indicate = { (pair: inout AttributePair) in
            pair.peripheral.layer.send([1], of: value, .indications, on: AttributePair.link, at: pair.now)
            pair.settle()
        }
        indicate(&pair.pair)
        let events = pair.pair.central.events[before...]
        #expect(events.map(\.client) == [AttributePair.app, other])
        #expect(events.map(\.event.peerEvent) == [.databaseForgotten(nil), .valueNotified(value, [1])])
    }

    @Test("The peer receives the host's client features after the app's own requests")
    func features() {
        var pair = BondedPair(isBonded: false)
        pair.connect()
        pair.walk()
        #expect(!pair.requests.contains { $0[0] == 0x12 })
        pair.rest()
        #expect(pair.requests.filter { $0[0] == 0x12 } == [[UInt8]("12 0400 0200"), [UInt8]("12 0600 05")])
        // What it reads then is refused if services have changed since the link came up.
        #expect(pair.requests.split { $0[0] == 0x12 }.last?.first?.hexadecimal == "0a0600")
    }
}
