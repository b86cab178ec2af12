import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part G, 2.5.2.1.
@Suite("Robust caching")
struct RobustCachingTests {
    private static let spare = LocalAttributeID(rawValue: 90)

    /// A link on which the peer has set `features` and listens to the sample's value at 24; the host's services end
    /// at 15.
    private func makeLayer(features: UInt8 = 1, tellsOfChanges: Bool = false) -> LoneLayer {
        var lone = LoneLayer(role: .peripheral, mtu: 64, database: GATTDatabase(deviceName: "Host", appearance: 0))
        _ = lone.perform(.addService(SampleService.definition))
        lone.learn()
        if features != 0 { _ = lone.answers(to: [0x12, 11, 0, features]) }
        if tellsOfChanges { _ = lone.answers(to: [UInt8]("12 0900 0200")) }
        _ = lone.answers(to: [UInt8]("12 1800 0100"))
        (lone.events, lone.others) = ([], [])
        return lone
    }

    private func change(_ lone: inout LoneLayer, _ id: LocalAttributeID = spare) -> [[UInt8]] {
        lone.perform(.addService(.init(id: id, uuid: .short(0xB000))))
    }

    private static let handled = [
        "0a 0300", "0c 0300 0000", "0e 0300 0500", "20 0300 0500", "12 0b00 01", "16 1200 0000 01",
        "08 0300 ffff 002a", "08 0100 feff 2a2b", "0a 0d00",
    ]
    private static let others = [
        "02 1700", "04 0100 ffff", "06 0100 ffff 0028 0018", "10 0100 ffff 0028", "08 0100 0500 0328",
        "08 0100 0500 0228", "08 0100 ffff 002a", "08 0100 ffff 2a2b", "18 00", "18 01",
    ]

    private func isOutOfSync(_ answers: [[UInt8]]) -> Bool { answers.first?.first == 1 && answers.first?.last == 0x12 }

    @Test("A request with a handle is refused once, and then carried out", arguments: handled)
    func refusedOnce(request: String) {
        var lone = makeLayer()
        let normal = lone.answers(to: [UInt8](request))
        _ = change(&lone)
        let packet = [UInt8](request)
        let refusal = [0x01, packet[0], packet[1], packet[2], 0x12]
        #expect(lone.answers(to: packet) == [refusal])
        let again = lone.answers(to: packet)
        #expect(again.map(\.first) == normal.map(\.first))
        #expect(!isOutOfSync(again))
    }

    @Test("Discovery is never refused, and does not make the client change-aware", arguments: others)
    func discovery(request: String) {
        var lone = makeLayer()
        _ = change(&lone)
        #expect(!isOutOfSync(lone.answers(to: [UInt8](request))))
        let readsHash = request == "08 0100 ffff 2a2b"
        #expect(isOutOfSync(lone.answers(to: [UInt8]("0a 0300"))) == !readsHash)
    }

    @Test("A client that did not enable robust caching is never refused", arguments: handled + others)
    func notRobust(request: String) {
        var lone = makeLayer(features: 6)
        _ = change(&lone)
        #expect(!isOutOfSync(lone.answers(to: [UInt8](request))))
    }

    /// What can happen on a link whose peer does not know the database.
    enum Step { case change, handled, discovery, hash, confirm }

    @Test(
        "A client becomes change-aware by confirming, or by another request after a refusal or after reading the hash",
        arguments: [
            ([], false), ([.discovery], false), ([.handled], false), ([.hash], false), ([.confirm], true),
            ([.handled, .discovery], true), ([.handled, .handled], true), ([.hash, .discovery], true),
            ([.hash, .handled], true), ([.handled, .change], false), ([.hash, .change], false),
            ([.handled, .change, .discovery], false), ([.confirm, .change], false),
            ([.change, .confirm], false), ([.change, .confirm, .confirm], true),
        ] as [([Step], Bool)]
    )
    func ways(steps: [Step], isAware: Bool) {
        var lone = makeLayer(tellsOfChanges: true)
        #expect(change(&lone).first?.first == 0x1D)
        for (number, step) in steps.enumerated() {
            switch step {
            case .change: _ = change(&lone, .init(rawValue: UInt32(91 + number)))
            case .handled: _ = lone.answers(to: [UInt8]("0a 0300"))
            case .discovery: _ = lone.answers(to: [UInt8]("04 0100 ffff"))
            case .hash: _ = lone.answers(to: [UInt8]("08 0100 ffff 2a2b"))
            case .confirm: _ = lone.answers(to: [0x1E])
            }
        }
        lone.take()
        _ = lone.perform(.update(SampleService.sent, [7], to: nil))
        let notified = lone.receipts.count == 1
        #expect(notified == isAware)
    }

    @Test("Commands of a change-unaware client are ignored with a note", arguments: [true, false])
    func commands(knows: Bool) {
        var lone = makeLayer()
        if !knows { _ = change(&lone) }
        lone.others = []
        _ = lone.serverEvents()
        #expect(lone.answers(to: [UInt8]("52 1200 01")) == [])
        let writes = lone.serverEvents().filter { if case .writeRequested = $0 { true } else { false } }
        #expect(writes.count == (knows ? 1 : 0))
        #expect(lone.notes.isEmpty == knows)
    }

    @Test("Values for a change-unaware client count as sent, and values arrive again once it is change-aware")
    func values() {
        var lone = makeLayer()
        _ = change(&lone)
        _ = lone.serverEvents()
        #expect(lone.perform(.update(SampleService.sent, [1], to: nil)) == [])
        #expect(lone.serverEvents() == [.updatesTaken(1)])
        _ = lone.answers(to: [UInt8]("0a 0300"))
        _ = lone.answers(to: [UInt8]("0a 0300"))
        #expect(lone.perform(.update(SampleService.sent, [2], to: nil)) == [[0x1B, 23, 0, 2]])
    }

    @Test("A change also counts for a client that enables robust caching only afterwards")
    func lateAnnouncement() {
        var lone = makeLayer(features: 0)
        _ = change(&lone)
        #expect(lone.perform(.update(SampleService.sent, [1], to: nil)) == [[0x1B, 23, 0, 1]])
        #expect(lone.answers(to: [0x12, 11, 0, 1]) == [[0x13]])
        #expect(lone.perform(.update(SampleService.sent, [2], to: nil)) == [])
        #expect(isOutOfSync(lone.answers(to: [UInt8]("0a 0300"))))
        #expect(lone.perform(.update(SampleService.sent, [3], to: nil)) == [])
        #expect(!isOutOfSync(lone.answers(to: [UInt8]("0a 0300"))))
        #expect(lone.perform(.update(SampleService.sent, [4], to: nil)) == [[0x1B, 23, 0, 4]])
    }

    @Test("Waiting value indications are discarded in favour of a Service Changed indication")
    func indications() {
        var lone = makeLayer(tellsOfChanges: true)
        _ = lone.answers(to: [UInt8]("12 1800 0200"))
        #expect(lone.perform(.update(SampleService.sent, [1], to: nil)) == [[0x1D, 23, 0, 1]])
        #expect(lone.perform(.update(SampleService.sent, [2], to: nil)) == [])
        lone.take()
        _ = lone.serverEvents()
        #expect(change(&lone) == [])
        #expect(lone.serverEvents().contains(.updatesTaken(1)))
        #expect(lone.answers(to: [0x1E]).map { $0.prefix(3) } == [[0x1D, 8, 0]])
        #expect(lone.answers(to: [0x1E]) == [])
        #expect(lone.perform(.update(SampleService.sent, [3], to: nil)) == [[0x1D, 23, 0, 3]])
    }

    @Test(
        "The features that a client enables are stored and cannot be disabled",
        arguments: [
            ("01", "03", 0x03), ("01", "01", 0x01), ("01", "00", nil), ("07", "03", nil), ("00", "00", 0x00),
            ("00", "ff", 0x07), ("00", "01ffff", 0x01), ("01", "", nil), ("00", "08", 0x00),
        ] as [(String, String, UInt8?)]
    )
    func features(before: String, wanted: String, after: UInt8?) {
        var lone = makeLayer(features: 0)
        #expect(lone.answers(to: [0x12, 11, 0] + [UInt8](before)) == [[0x13]])
        let refusal: [UInt8] = wanted.isEmpty ? [1, 0x12, 11, 0, 0x0D] : [1, 0x12, 11, 0, 0x13]
        #expect(lone.answers(to: [0x12, 11, 0] + [UInt8](wanted)) == [after == nil ? refusal : [0x13]])
        #expect(lone.answers(to: [0x0A, 11, 0]) == [[0x0B, after ?? [UInt8](before)[0]]])
    }

    @Test("Enhanced bearers are offered only if the host supports them", arguments: [false, true])
    func serverFeatures(hasThem: Bool) {
        var lone = LoneLayer(
            role: .peripheral,
            database: GATTDatabase(deviceName: "", appearance: 0, offersEnhancedBearers: hasThem)
        )
        #expect(lone.answers(to: [UInt8]("08 0100 ffff 3a2b")) == [[0x09, 3, 15, 0, hasThem ? 1 : 0]])
    }
}
