import BLEHost
import BLEWire

extension ChannelVictim {
    /// Checks that every open bearer works, that each of the app's requests has completed once, and that the link to
    /// the honest peer still works.
    func checkBearers() {
        refuseOpenings()
        for channel in oracle.channels { complete(channel) }
        provideValues()
        answerRequests { _ in nil }
        confirmAll()
        if scene != .server {
            ask([31, 32, 33])
            answerRequests { request in
                switch request.opcode {
                case 0x0A: [0x0B, UInt8(truncatingIfNeeded: request.handle)]
                case 0x12: [0x13]
                default: nil
                }
            }
        }
        let missing = oracle.attributes?.asked ?? []
        base.check(missing.isEmpty, "does not complete an app's requests for the handles \(missing)")
        for bearer in oracle.attributes?.bearers ?? [] { tell([0x0A, 3, 0], on: bearer.name) }
        base.checkLinks()
        base.disconnect()
        let results = base.record.results
        base.check(results.isEmpty, "reports \(results) to an app at the end of the link")
    }

    /// Refuses all bearers that the host still requests, like a peer that does not support the PSM, and checks that the
    /// host stops requesting them.
    private func refuseOpenings() {
        for _ in 0...ChannelOracle.mostOpenings {
            guard let opening = oracle.openings.first else { return }
            let octets: [UInt8] = [
                0x18, opening.identifier.wire, 14, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
            ]
            step(.init(octets: octets, .anything, channel: .leSignaling))
        }
        base.check(oracle.openings.isEmpty, "requests bearers without end")
    }

    /// Completes the adversary's unfinished SDU on a channel, and gives the host 32 more credits if it has fewer than
    /// 32.
    private func complete(_ channel: ChannelOracle.Channel) {
        if let (octets, length) = channel.unit, !channel.isClosing {
            step(
                .init(
                    octets: [UInt8](repeating: 9, count: length - octets.count),
                    .anything,
                    channel: channel.local
                )
            )
        }
        let present = oracle.channels.first { $0.local == channel.local }
        guard let present, !present.isClosing, present.granted < 0x20 else { return }
        let remote = UInt8(truncatingIfNeeded: channel.remote.wire)
        step(.init(octets: [0x16, 0x21, 4, 0, remote, 0, 0x20, 0], .anything, channel: .leSignaling))
    }

    /// Makes the server's app provide all values that have been requested.
    private func provideValues() {
        for _ in 0..<Self.iterationLimit {
            guard !held.isEmpty else { break }
            base.record.forget()
            let effects = oracle.attributes?.answerReading() ?? []
            let expected = oracle.carryOut(effects)
            base.host.perform(
                .service(.respond(held.removeFirst(), .success(AttributeOracle.value))),
                for: SignalVictim.peripheral,
                at: base.now
            )
            base.drain()
            consume()
            compare(with: expected, after: "an app's response")
        }
        let readings = oracle.attributes?.readings ?? []
        base.check(held.isEmpty && readings.isEmpty, "passes requests to an app without end")
    }

    private func confirmAll() {
        for _ in 0..<Self.iterationLimit {
            let bearer = oracle.attributes?.bearers.first { !$0.indications.isEmpty }
            guard let bearer else { return }
            tell([0x1E], on: bearer.name)
        }
        base.check(false, "sends indications without end")
    }
}
