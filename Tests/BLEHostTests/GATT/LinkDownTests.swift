import BLEHost
import BLEWire
import Testing

@Suite("Loss of a link at every step")
struct LinkDownTests {
    static let requests: [AttributeRequest] = [
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
        case .databaseForgotten: "forgotten"
        case .channelOpened: "channel"
        case .mtuChanged, .nameChanged, .linkChanged, .valueNotified, .servicesModified: nil
        }
    }

    /// What may put an end to what is under way.
    enum Ending: CaseIterable {
        case link
        /// The app that asked has no more use for the peer.
        case client
        /// The app that serves goes away.
        case server

        /// Brings it about, and lets what follows from it happen.
        func come(to pair: inout AttributePair) {
            switch self {
            case .link:
                pair.central.layer.linkDown(AttributePair.link, failure: .notConnected, at: pair.now)
                pair.peripheral.layer.linkDown(AttributePair.link, failure: .notConnected, at: pair.now)
                (pair.central.sent, pair.peripheral.sent) = ([], [])
            case .client: pair.central.layer.detach(AttributePair.app, from: AttributePair.link, at: pair.now)
            case .server: pair.peripheral.layer.clientClosed(AttributePair.server, at: pair.now)
            }
            pair.settle()
        }
    }

    @Test("Every request is answered exactly once", arguments: requests.indices, Ending.allCases)
    func everyStep(index: Int, ending: Ending) {
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
            pair.central.takesReceipts = ending != .link
            // Something that waits behind, so that a queue is there too.
            pair.central.layer.perform(
                Self.requests[index],
                on: AttributePair.link,
                for: Requester(AttributePair.app),
                at: pair.now
            )
            pair.central.layer.perform(
                .read(.init(wire: 14)),
                on: AttributePair.link,
                for: Requester(AttributePair.app),
                at: pair.now
            )
            let isOver = pair.settle(atMost: steps)
            ending.come(to: &pair)
            let answers = pair.central.events.compactMap { $0.event.peerEvent.flatMap(Self.key) }
            #expect(answers.count == 2, "after \(steps) packets: \(answers)")
            if ending == .link { #expect(pair.central.layer.deadline == nil && pair.peripheral.layer.deadline == nil) }
            if isOver { break }
            steps += 1
        }
        #expect(steps < 50)
    }
}
