import BLEHost
import BLEWire
import Testing

@Suite("The end of a link, at every step")
struct LinkDownTests {
    static let requests: [PeerRequest] = [
        .discoverServices(only: []), .discoverServices(only: [SampleService.uuid]),
        .discoverIncludedServices(in: range(10, 18), only: []), .discoverCharacteristics(in: range(10, 18), only: []),
        .discoverDescriptors(of: .init(wire: 14), in: range(15, 15)), .read(.init(wire: 12)),
        .write(.init(wire: 12), [UInt8](repeating: 3, count: 50)), .write(.init(wire: 12), [1]),
        .writeCommand(.init(wire: 12), [1]), .subscribe(.notifications, to: .init(wire: 17), in: range(18, 18)),
    ]

    /// Which request an event answers; `nil` for events that answer none.
    static func key(_ event: PeerEvent) -> String? {
        switch event {
        case .servicesDiscovered: "services"
        case .includedServicesDiscovered: "included"
        case .characteristicsDiscovered: "characteristics"
        case .descriptorsDiscovered: "descriptors"
        case .valueRead: "read"
        case .valueWritten: "written"
        case .writeCommandsTaken: "command"
        case .subscriptionChanged: "subscription"
        case .rssiRead: "strength"
        case .tuned: "tuned"
        case .channelOpened: "channel"
        case .mtuChanged, .nameChanged, .linkChanged, .valueNotified, .servicesModified: nil
        }
    }

    @Test("Whatever is asked is answered exactly once", arguments: requests.indices)
    func everyStep(index: Int) {
        var steps = 0
        while true {
            var pair = AttributePair(centralMTU: 23)
            let value = [UInt8](repeating: 8, count: 60)
            pair.serve = { event in
                switch event {
                case .readRequested(let transaction, _, _, let offset):
                    [.respond(transaction, .success([UInt8](value.dropFirst(offset))))]
                case .writeRequested(let transaction?, _, _): [.respond(transaction, .success([]))]
                default: []
                }
            }
            pair.host(.addService(SampleService.definition))
            pair.connect()
            // Something that waits behind, so that a queue is there too.
            pair.central.takesReceipts = false
            pair.central.layer.perform(
                Self.requests[index],
                on: AttributePair.link,
                for: AttributePair.app,
                at: pair.now
            )
            pair.central.layer.perform(
                .read(.init(wire: 14)),
                on: AttributePair.link,
                for: AttributePair.app,
                at: pair.now
            )
            let isOver = pair.settle(atMost: steps)
            pair.central.layer.linkDown(AttributePair.link, failure: .notConnected, at: pair.now)
            pair.peripheral.layer.linkDown(AttributePair.link, failure: .notConnected, at: pair.now)
            pair.central.drain(at: pair.now)
            pair.peripheral.drain(at: pair.now)
            let answers = pair.central.events.compactMap { $0.event.peerEvent.flatMap(Self.key) }
            #expect(answers.count == 2, "after \(steps) packets: \(answers)")
            #expect(pair.central.layer.deadline == nil && pair.peripheral.layer.deadline == nil)
            if isOver { break }
            steps += 1
        }
        #expect(steps < 50)
    }
}
