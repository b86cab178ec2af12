import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part G, 2.5.2, 3.3.3.3 and 7.1.
@Suite("Clients that reconnect")
struct BondedClientTests {
    private static let spare = LocalAttributeID(rawValue: 90)

    /// A host with the sample, whose value is at 23 and its configuration at 24.
    private func makeLayer() -> LoneLayer {
        var lone = LoneLayer(role: .peripheral, mtu: 64, database: GATTDatabase(deviceName: "Host", appearance: 0))
        _ = lone.perform(.addService(SampleService.definition))
        lone.learn()
        return lone
    }

    /// What has been kept last.
    private func kept(_ lone: LoneLayer) -> Bond? {
        lone.others.compactMap { if case .bondChanged(_, let bond) = $0 { bond } else { nil } }.last
    }

    /// Ends the link and begins another, and returns what is sent at once.
    private func comeBack(_ lone: inout LoneLayer, with bond: Bond?, meanwhile: (inout LoneLayer) -> Void = { _ in })
        -> [[UInt8]]
    {
        lone.layer.linkDown(LoneLayer.link, failure: .notConnected, at: lone.now)
        _ = lone.sent()
        meanwhile(&lone)
        (lone.events, lone.others) = ([], [])
        lone.layer.linkUp(LoneLayer.link, peer: LoneLayer.peer, role: .peripheral, bond: bond, at: lone.now)
        return lone.sent()
    }

    private func bond(_ lone: inout LoneLayer) {
        lone.layer.bonded(LoneLayer.link, Bond(identity: DeviceAddress(1, .public)), at: lone.now)
        _ = lone.sent()
    }

    @Test("Only a bonded client's subscriptions are restored", arguments: [true, false])
    func configurations(isBonded: Bool) {
        var lone = makeLayer()
        _ = lone.answers(to: [UInt8]("12 1800 0100"))
        if isBonded { bond(&lone) }
        _ = lone.answers(to: [UInt8]("12 0900 0200"))
        _ = lone.answers(to: [UInt8]("12 0b00 05"))
        #expect((kept(lone) != nil) == isBonded)
        #expect(comeBack(&lone, with: kept(lone)) == [])
        let central = RemoteCentral(peer: LoneLayer.peer, mtu: 23)
        #expect(lone.serverEvents() == (isBonded ? [.subscribed(central, to: SampleService.sent)] : []))
        #expect(lone.answers(to: [0x0A, 0x18, 0]) == [[0x0B, isBonded ? 1 : 0, 0]])
        #expect(lone.answers(to: [0x0A, 9, 0]) == [[0x0B, isBonded ? 2 : 0, 0]])
        #expect(lone.answers(to: [0x0A, 11, 0]) == [[0x0B, isBonded ? 5 : 0]])
        let values = lone.perform(.update(SampleService.sent, [7], to: nil))
        #expect(values == (isBonded ? [[0x1B, 23, 0, 7]] : []))
    }

    @Test("A bonded client learns of changes made while it was away, and is change-aware if there were none")
    func changes() throws {
        for (hasChanged, listens) in [(false, true), (true, true), (true, false)] {
            var lone = makeLayer()
            bond(&lone)
            if listens { _ = lone.answers(to: [UInt8]("12 0900 0200")) }
            _ = lone.answers(to: [UInt8]("12 0b00 01"))
            let bond = try #require(kept(lone))
            let sent = comeBack(&lone, with: bond) { lone in
                if hasChanged { _ = lone.perform(.addService(.init(id: Self.spare, uuid: .short(0xB000)))) }
            }
            #expect(sent == (hasChanged && listens ? [[UInt8]("1d 0800 0100 ffff")] : []))
            let answer = lone.answers(to: [UInt8]("0a 0300"))
            #expect(answer == (hasChanged ? [[UInt8]("01 0a 0300 12")] : [[UInt8]("0b 486f7374")]))
        }
    }

    @Test("A change is indicated again on reconnection only if it was not confirmed")
    func pending() throws {
        for isConfirmed in [false, true] {
            var lone = makeLayer()
            bond(&lone)
            _ = lone.answers(to: [UInt8]("12 0900 0200"))
            let sent = lone.perform(.addService(.init(id: Self.spare, uuid: .short(0xB000))))
            #expect(sent == [[UInt8]("1d 0800 1900 1900")])
            if isConfirmed { _ = lone.answers(to: [0x1E]) }
            let bond = try #require(kept(lone))
            #expect(bond.client.isAware == isConfirmed)
            #expect(comeBack(&lone, with: bond) == (isConfirmed ? [] : sent))
        }
    }

    @Test("A subscription is not restored to another characteristic that now has the handle")
    func otherCharacteristic() throws {
        var lone = makeLayer()
        bond(&lone)
        _ = lone.answers(to: [UInt8]("12 1800 0100"))
        let bond = try #require(kept(lone))
        _ = comeBack(&lone, with: bond) { lone in
            _ = lone.perform(.removeAllServices)
            var other = SampleService.definition
            for index in other.characteristics.indices { other.characteristics[index].uuid = .short(0xB00B) }
            _ = lone.perform(.addService(other))
        }
        #expect(lone.answers(to: [0x0A, 0x18, 0]) == [[0x0B, 0, 0]])
        #expect(lone.serverEvents() == [])
        #expect(lone.perform(.update(SampleService.sent, [7], to: nil)) == [])
        #expect(kept(lone)?.client.configurations == [])
    }

    @Test("Values that require encryption are not sent before the link is encrypted")
    func protected() {
        var lone = LoneLayer(role: .peripheral)
        let id = LocalAttributeID(rawValue: 2)
        let secret = CharacteristicDefinition(
            id: id,
            uuid: .short(0xB001),
            properties: .notifyEncryptionRequired,
            permissions: []
        )
        _ = lone.perform(
            .addService(.init(id: .init(rawValue: 1), uuid: .short(0xB000), characteristics: [secret]))
        )
        var bond = Bond(identity: DeviceAddress(1, .public))
        bond.client.databaseHash = lone.layer.databaseHash
        bond.client.configurations = [
            .init(handle: .init(wire: 13), characteristic: .short(0xB001), bits: 1)
        ]
        lone.layer.bonded(LoneLayer.link, bond, at: lone.now)
        #expect(lone.perform(.update(id, [1], to: nil)) == [])
        lone.layer.secure(LoneLayer.link, .key(.encrypted))
        #expect(lone.perform(.update(id, [2], to: nil)) == [[0x1B, 12, 0, 2]])
    }

    @Test("Stored client data is reported once per change, and only then")
    func outputs() {
        var lone = makeLayer()
        bond(&lone)
        lone.others = []
        _ = lone.answers(to: [UInt8]("12 1800 0100"))
        _ = lone.answers(to: [UInt8]("12 1800 0100"))
        _ = lone.answers(to: [UInt8]("0a 0300"))
        _ = lone.answers(to: [UInt8]("12 0b00 00"))
        let changes = lone.others.filter { if case .bondChanged = $0 { true } else { false } }
        #expect(changes.count == 1)
        #expect(kept(lone)?.client.configurations.map(\.bits) == [1])
    }
}
