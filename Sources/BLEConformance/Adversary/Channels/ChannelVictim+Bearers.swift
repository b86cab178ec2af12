import BLEHost
import BLEWire

// The attack on a host whose channels are Enhanced ATT bearers.
extension ChannelVictim {
    /// Starts the host's server, and lets the host complete its own procedures on the other link.
    func prepareBearers() {
        base.host.perform(
            .service(.addService(BearerScene.service)),
            for: SignalVictim.peripheral,
            at: base.now
        )
        base.drain()
        for _ in 0..<Self.iterationLimit {
            let requests = base.record.sentElsewhere
            base.record.sentElsewhere = []
            for request in requests {
                base.deliver([0x01, request[0], 1, 0, 0x0A], on: .attribute, of: AttributeVictim.other)
            }
            base.advance(by: .milliseconds(300))
        }
        base.record.forget()
    }

    func begin(_ scene: BearerScene) {
        oracle.attributes = AttributeOracle()
        let strength = PairingStrength(keySize: 16, isAuthenticated: false, isSecureConnections: false)
        base.host.secure(AttributeVictim.link, strength, at: base.now)
        base.drain()
        switch scene {
        case .server: beginServing()
        case .opening: beginOpening()
        case .client:
            beginOpening()
            step(.init("18 01 0e00 4000 4000 2000 0000 6000 6100 6200", .anything, channel: 5))
            ask([1, 2, 3, 4, 5])
        }
    }

    /// Makes the peer open two bearers and subscribe to two characteristics, then makes the app indicate each of them
    /// twice.
    ///
    /// The first characteristic is indicated on the unenhanced bearer, the second on the first opened bearer.
    private func beginServing() {
        step(.init("17 31 0c00 2700 4000 4000 2000 5000 5400", .anything, channel: 5))
        let names = oracle.channels.map(\.local.wire)
        base.check(names == [0x40, 0x41], "uses unexpected channel identifiers for bearers: \(names)")
        for (_, configuration) in BearerScene.indicated {
            base.deliver([0x12, configuration, 0, 2, 0], on: .attribute, of: AttributeVictim.link)
            base.drain()
        }
        base.record.forget()
        let bearers = [ChannelIdentifier.attribute, ChannelIdentifier(wire: 0x40)]
        for octet: UInt8 in [1, 2] {
            for (position, id) in [BearerScene.first, BearerScene.second].enumerated() {
                base.record.forget()
                let packet = [0x1D, BearerScene.indicated[position].value, 0, octet]
                let effects = oracle.attributes?.indicate(packet, on: bearers[position]) ?? []
                let expected = oracle.carryOut(effects)
                base.host.perform(
                    .service(.update(id, [octet], to: nil)),
                    for: SignalVictim.peripheral,
                    at: base.now
                )
                base.drain()
                compare(with: expected, after: "a value")
            }
        }
    }

    /// Lets the host discover that the peer supports Enhanced ATT, and request bearers.
    private func beginOpening() {
        for _ in 0..<Self.iterationLimit {
            base.record.forget()
            base.advance(by: .milliseconds(300))
            compare(with: .init(), after: "a pause")
            let isQuiet = oracle.attributes?.bearers.first?.request == nil
            if isQuiet, !oracle.openings.isEmpty { break }
            answerRequests { $0.isForFeatures ? [0x09, 3, 15, 0, 1] : nil }
        }
        base.check(oracle.openings.count == 1, "does not request bearers")
    }

    /// Makes the app access the values with these handles: it reads each one but the last, which it writes.
    func ask(_ handles: [UInt16]) {
        base.record.forget()
        oracle.noteCredits()
        guard let peer = base.identify(SignalVictim.address) else {
            return base.check(false, "does not find the peer")
        }
        for handle in handles {
            let attribute = AttributeHandle(wire: handle)
            let request: PeerRequest = handle == handles.last ? .write(attribute, [7]) : .read(attribute)
            oracle.attributes?.asked.append(handle)
            base.host.perform(.peer(peer, request), for: SignalVictim.central, at: base.now)
        }
        base.drain()
        compare(with: .init(), after: "requests of an app")
    }

    /// Makes the peer respond to all requests in progress, like an honest server.
    ///
    /// `answer` returns the response to a request; `nil` for the error Attribute Not Found.
    func answerRequests(with answer: (AttributeOracle.Request) -> [UInt8]?) {
        for _ in 0..<Self.iterationLimit {
            guard let bearer = oracle.attributes?.bearers.first(where: { $0.request != nil }),
                let request = bearer.request
            else { return }
            let handle = [UInt8(request.handle & 0xFF), UInt8(request.handle >> 8)]
            tell(answer(request) ?? [0x01, request.opcode] + handle + [0x0A], on: bearer.name)
        }
        base.check(false, "sends requests without end")
    }

    /// Makes the peer send an ATT packet on a bearer.
    func tell(_ packet: [UInt8], on name: ChannelIdentifier) {
        let octets = name == .attribute ? packet : [UInt8(packet.count), 0] + packet
        step(.init(octets: octets, .anything, channel: name))
    }

    /// The maximum number of repetitions in a loop that must end by itself.
    static let iterationLimit = 30
}

extension AttributeOracle.Request {
    /// True if this request reads the Server Supported Features characteristic.
    fileprivate var isForFeatures: Bool { opcode == 0x08 && rest == [0x3A, 0x2B] }
}
