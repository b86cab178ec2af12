import BLEHost
import BLEWire
import Testing

@Suite("Loss of the link to a bonded peer at every step")
struct BondedLinkDownTests {
    typealias Server = BondedPair.Server

    /// What the client knows of the peer when the link comes up.
    enum Memory: CaseIterable {
        case stranger, bonded, cached, outdated
    }

    /// How it ends.
    enum End: CaseIterable {
        case link, client
    }

    static let requests: [AttributeRequest] = [
        .discoverServices(only: []), .discoverCharacteristics(in: range(0x10, 0x13), only: []),
        .discoverIncludedServices(in: range(0x20, 0x23), only: []),
        .discoverDescriptors(of: .init(wire: 0x12), in: range(0x13, 0x13)), .read(Server.value(of: 0)),
        .write(Server.value(of: 1), [UInt8](repeating: 1, count: 300)),
        .subscribe(.notifications, to: Server.serviceChanged, in: range(4, 4)),
        .discoverServices(only: [.short(0xB001)]),
    ]

    /// A pair whose link has just come up, with everything asked for.
    private func makePair(_ memory: Memory) -> AttributePair {
        var pair = BondedPair(isBonded: memory != .stranger)
        if memory == .cached || memory == .outdated {
            pair.connect()
            pair.walk()
            pair.rest()
            pair.disconnect()
        }
        var raw = pair.pair
        raw.central.events = []
        let server = memory == .outdated ? Server(hash: 9) : Server()
        raw.peripheral.layer = AttributeLayer(configuration: .init(preferredMTU: 64), database: server.database)
        raw.peripheral.layer.linkUp(AttributePair.link, peer: AttributePair.centralPeer, role: .peripheral, at: raw.now)
        raw.central.layer.linkUp(
            AttributePair.link,
            peer: AttributePair.peripheralPeer,
            role: .central,
            bond: pair.bond,
            at: raw.now
        )
        raw.central.layer.attach(AttributePair.app, to: AttributePair.link)
        for request in Self.requests {
            raw.central.layer.perform(request, on: AttributePair.link, for: Requester(AttributePair.app), at: raw.now)
        }
        return raw
    }

    @Test(
        "Every request is answered exactly once, whether or not services change in between",
        arguments: Memory.allCases,
        End.allCases
    )
    func everyStep(memory: Memory, end: End) {
        for change in [nil, 5, 11, 23] as [Int?] {
            for steps in 0..<80 {
                var pair = makePair(memory)
                for step in 0..<steps {
                    _ = pair.settle(atMost: 1)
                    pair.now = pair.now + .milliseconds(60)
                    pair.central.layer.wake(at: pair.now)
                    guard step == change else { continue }
                    pair.peripheral.layer.send(
                        [0x10, 0, 0x13, 0],
                        of: Server.serviceChanged,
                        .indications,
                        on: AttributePair.link,
                        at: pair.now
                    )
                }
                switch end {
                case .link: pair.central.layer.linkDown(AttributePair.link, failure: .notConnected, at: pair.now)
                case .client: pair.central.layer.detach(AttributePair.app, from: AttributePair.link, at: pair.now)
                }
                pair.central.drain(at: pair.now)
                let answers = pair.central.events.compactMap { $0.event.peerEvent.flatMap(LinkDownTests.key) }
                #expect(answers.count == Self.requests.count, "after \(steps) packets: \(answers)")
                if end == .link { #expect(pair.central.layer.deadline == nil) }
            }
        }
    }
}
