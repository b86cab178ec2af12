import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part F, 3.4.7.4.
@Suite("Several values in one packet")
struct GatheredValueTests {
    /// Three values at 18, 21 and 24 of which the peer hears, if it takes several at once or not.
    private func makeLayer(features: UInt8, mtu: Int = 64, limits: Limits = Limits()) -> LoneLayer {
        let database = GATTDatabase(deviceName: "", appearance: 0)
        var lone = LoneLayer(role: .peripheral, mtu: mtu, limits: limits, database: database)
        let characteristics = (1...3).map { number -> CharacteristicDefinition in
            .init(
                id: .init(rawValue: UInt32(number)),
                uuid: .short(0xB000 + UInt16(number)),
                properties: [.notify, .indicate],
                permissions: []
            )
        }
        _ = lone.perform(
            .addService(.init(id: .init(rawValue: 9), uuid: .short(0xB000), characteristics: characteristics))
        )
        lone.learn()
        _ = lone.answers(to: [0x12, 11, 0, features])
        for configuration in [19, 22, 25] as [UInt8] { _ = lone.answers(to: [0x12, configuration, 0, 1, 0]) }
        (lone.events, lone.others) = ([], [])
        return lone
    }

    private func update(_ number: UInt32, _ value: [UInt8], _ lone: inout LoneLayer) -> [[UInt8]] {
        lone.perform(.update(.init(rawValue: number), value, to: nil))
    }

    /// Has the controller take what it was given, and returns what is sent then.
    private func take(_ lone: inout LoneLayer) -> [[UInt8]] {
        let receipts = lone.receipts
        lone.receipts = []
        for receipt in receipts { lone.layer.sent(receipt, at: lone.now) }
        return lone.sent()
    }

    @Test("Values are sent in order, as soon as the controller has sent the previous ones")
    func gathering() {
        var lone = makeLayer(features: 4)
        #expect(update(1, [1], &lone) == [[0x1B, 18, 0, 1]])
        #expect(update(2, [2, 2], &lone) == [])
        #expect(update(3, [3], &lone) == [])
        #expect(update(1, [], &lone) == [])
        #expect(lone.serverEvents() == [])
        #expect(take(&lone) == [[UInt8]("23 1500 0200 0202 1800 0100 03 1200 0000")])
        #expect(lone.serverEvents() == [.updatesTaken(1)])
        #expect(update(1, [4], &lone) == [])
        #expect(take(&lone) == [[0x1B, 18, 0, 4]])
        #expect(lone.serverEvents() == [.updatesTaken(3)] || lone.serverEvents().isEmpty)
        #expect(take(&lone) == [])
        #expect(update(2, [5], &lone) == [[0x1B, 21, 0, 5]])
    }

    @Test(
        "A client that does not support multiple values receives them one by one",
        arguments: [0, 1, 2, 3] as [UInt8]
    )
    func single(features: UInt8) {
        var lone = makeLayer(features: features)
        for octet in 1...3 as ClosedRange<UInt8> {
            #expect(update(1, [octet], &lone) == [[0x1B, 18, 0, octet]])
        }
    }

    @Test(
        "Packets are filled without truncating values, and a value too long for any packet is truncated",
        arguments: [23, 40, 64, 517]
    )
    func fitting(mtu: Int) throws {
        var lone = makeLayer(features: 4, mtu: mtu)
        _ = update(1, [0], &lone)
        let lengths = [0, 1, 5, 8, 18, 19, 20, 30, 3, 100, 2, 2]
        var values: [[UInt8]] = [], packets: [[UInt8]] = []
        for (number, length) in lengths.enumerated() {
            packets += update(1, [UInt8](repeating: UInt8(number), count: length), &lone)
        }
        // All that waited leaves with a value that has room for no other.
        #expect(packets.isEmpty == (mtu == 517))
        packets += take(&lone)
        while !packets.isEmpty {
            for packet in packets {
                #expect(packet.count <= mtu)
                switch try ATTPacket(decoding: packet) {
                case .notification(let one): values.append(one.value)
                case .multipleNotification(let several):
                    #expect(several.entries.count > 1)
                    values += several.entries.map(\.value)
                default: Issue.record("\(packet)")
                }
            }
            packets = take(&lone)
        }
        #expect(values.map(\.count) == lengths.map { min($0, mtu - 3) })
        #expect(values.map { $0.first } == lengths.enumerated().map { $1 == 0 ? nil : UInt8($0) })
        let taken = lone.serverEvents().map { if case .updatesTaken(let count) = $0 { count } else { 0 } }
        #expect(taken.reduce(0, +) == lengths.count + 1)
    }

    @Test("Values are sent once more wait than the limit allows")
    func limit() {
        var limits = Limits()
        limits.gatheredValues = 2
        var lone = makeLayer(features: 4, limits: limits)
        _ = update(1, [1], &lone)
        #expect(update(2, [2], &lone) == [])
        #expect(update(3, [3], &lone) == [])
        #expect(update(1, [4], &lone) == [[UInt8]("23 1500 0100 02 1800 0100 03")])
        #expect(take(&lone) == [[0x1B, 18, 0, 4]])
    }

    @Test("Waiting values count as sent when the peer unsubscribes, becomes change-unaware or disconnects")
    func dropped() {
        for step in 0..<4 {
            var lone = makeLayer(features: 5)
            _ = update(1, [1], &lone)
            for number in 2...3 as ClosedRange<UInt32> { _ = update(number, [9], &lone) }
            switch step {
            case 0: _ = [22, 25].map { lone.answers(to: [0x12, $0, 0, 0, 0]) }
            case 1: _ = lone.perform(.addService(.init(id: .init(rawValue: 50), uuid: .short(0xB050))))
            case 2: _ = lone.perform(.removeAllServices)
            default:
                lone.layer.linkDown(LoneLayer.link, failure: .notConnected, at: lone.now)
                _ = lone.sent()
            }
            #expect(take(&lone) == [])
            let taken = lone.serverEvents().map { if case .updatesTaken(let count) = $0 { count } else { 0 } }
            #expect(taken.reduce(0, +) == 3, "step \(step)")
        }
    }
}
