import BLEWire
import Testing

@testable import BLEHost

@Suite("Signalling channel")
struct SignallingTests {
    let wish = Signal.ConnectionParameterUpdateRequest(intervalMin: 12, intervalMax: 24, latency: 0, timeout: 200)
    static let local = ChannelIdentifier(wire: 0x44)
    static let remote = ChannelIdentifier(wire: 0x55)

    @Test("Only a central answers a parameter request")
    func answer() {
        var central = LoneChannels(role: .central), peripheral = LoneChannels(role: .peripheral)
        #expect(central.answers(to: .connectionParameterUpdateRequest(wish)) == [])
        #expect(central.requested == [wish])
        #expect(peripheral.answers(to: .connectionParameterUpdateRequest(wish)) == [.commandReject(.notUnderstood)])
        #expect(peripheral.requested.isEmpty)
    }

    /// What comes, and what is said to it.
    static let cases: [([UInt8], [Signal])] = [
        // Codes that nobody knows on such a link.
        ([0x77, 7, 0, 0], [.commandReject(.notUnderstood)]),
        ([0x02, 7, 4, 0, 1, 0, 0x40, 0], [.commandReject(.notUnderstood)]),
        // Lengths that are not those of the data.
        ([0x12, 7, 9, 0, 1, 2], [.commandReject(.notUnderstood)]),
        ([0x14, 7, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [.commandReject(.notUnderstood)]),
        ([0x17, 7, 8, 0, 0x80, 0, 100, 0, 100, 0, 1, 0], [.commandReject(.notUnderstood)]),
        ([0x17, 7, 9, 0, 0x80, 0, 100, 0, 100, 0, 1, 0, 0x40], [.commandReject(.notUnderstood)]),
        ([0x19, 7, 4, 0, 100, 0, 100, 0], [.commandReject(.notUnderstood)]),
        ([0x06, 7, 1, 0, 1], [.commandReject(.notUnderstood)]),
        ([0x06], []),
        ([], []),
        // What is an answer is not answered.
        ([0x07, 7, 1, 0, 1], []),
        ([0x15, 7, 0, 0], []),
        ([0x16, 7, 1, 0, 1], []),
        ([0x01, 7, 30, 0] + [UInt8](repeating: 0, count: 30), []),
        ([0x01, 7, 2, 0, 0, 0], []),
        ([0x13, 7, 2, 0, 0, 0], []),
        ([0x1A, 7, 2, 0, 0, 0], []),
        // An identifier that there is not.
        ([0x06, 0, 4, 0, 0x40, 0, 0x41, 0], []),
        // More than this end takes.
        ([0x12, 7, 30, 0] + [UInt8](repeating: 0, count: 30), [.commandReject(.mtuExceeded(mtu: 23))]),
        ([0x17, 7, 20, 0] + [UInt8](repeating: 0, count: 20), [.commandReject(.mtuExceeded(mtu: 23))]),
        // Channels that there are not.
        ([0x06, 7, 4, 0, 0x44, 0, 0x55, 0], [.commandReject(.invalidChannel(local: local, remote: remote))]),
        ([0x07, 7, 4, 0, 0x44, 0, 0x55, 0], []),
        ([0x16, 7, 4, 0, 0x44, 0, 1, 0], []),
    ]

    @Test("An invalid packet is rejected with the right reason if it requires a response", arguments: cases)
    func rejects(octets: [UInt8], answers: [Signal]) {
        var bench = LoneChannels()
        let said = bench.answers(to: octets)
        #expect(said == answers)
    }

    @Test("One parameter request is pending at a time, until it is answered, rejected or times out")
    func parameters() {
        for answer in [0, 1, 2, 3] {
            var bench = LoneChannels(role: .peripheral)
            bench.layer.request(wish, on: LoneChannels.link, at: bench.now)
            bench.layer.request(wish, on: LoneChannels.link, at: bench.now)
            let requests = bench.drain()
            #expect(requests.map(\.signal) == [.connectionParameterUpdateRequest(wish)])
            let identifier = requests.first?.identifier ?? .first
            switch answer {
            case 0: _ = bench.answers(to: .connectionParameterUpdateResponse(.init(.accepted)), identifier)
            case 1: _ = bench.answers(to: .connectionParameterUpdateResponse(.init(.rejected)), identifier)
            case 2: _ = bench.answers(to: .commandReject(.notUnderstood), identifier)
            default: _ = bench.advance(by: SignalExchange.timeout)
            }
            let expected: [Note] =
                switch answer {
                case 0: []
                case 1, 2: [.signalRefused(LoneChannels.link)]
                default: [.signalTimedOut(LoneChannels.link)]
                }
            #expect(bench.notes == expected)
            bench.layer.request(wish, on: LoneChannels.link, at: bench.now)
            #expect(bench.drain().map(\.signal) == [.connectionParameterUpdateRequest(wish)])
        }
    }

    @Test("Random packets never crash the host, and never close a channel of another link", arguments: UInt64(0)..<16)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed), bench = LoneChannels()
        let other = ConnectionHandle(wire: 2) ?? .lowest
        bench.layer.linkUp(other, peer: PeerIdentifier(rawValue: 8), role: .peripheral)
        bench.layer.open(SPSM(wire: 0x80), on: other, for: Requester(LoneChannels.server), at: bench.now)
        let identifier = bench.drain().first?.identifier ?? .first
        let response = Signal.LECreditBasedConnectionResponse(
            destination: ChannelIdentifier(wire: 0x41),
            mtu: 100,
            mps: 50,
            credits: 10
        )
        let packet = SignalPacket(.leCreditBasedConnectionResponse(response), identifier: identifier)
        bench.layer.receiveSignal(packet.encoded.span, on: other, bench.trust, at: bench.now)
        _ = bench.drain()
        for _ in 0..<3_000 {
            let length = Int.random(in: 0...26, using: &random)
            var bytes: [UInt8] = (0..<length).map { _ in .random(in: 0...255, using: &random) }
            if length > 4, Int.random(in: 0..<8, using: &random) > 0 {
                bytes[0] = .random(in: 0...0x1C, using: &random)
                bytes[1] = .random(in: 1...8, using: &random)
                (bytes[2], bytes[3]) = (UInt8(length - 4), 0)
                for index in 4..<length where Bool.random(using: &random) {
                    bytes[index] = [0, 0x40, 0x41, 0x42, 0x80, 100].randomElement(using: &random) ?? 0
                }
            }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: _ = bench.answers(toData: bytes, on: .random(in: 0x40...0x44, using: &random))
            case 1: _ = bench.ask()
            default: _ = bench.answers(to: bytes)
            }
        }
        _ = bench.advance(by: SignalExchange.extendedTimeout)
        let rest = bench.layer.links[other]?.channels.map(\.isOpen)
        #expect(rest == [true])
        #expect((bench.layer.links[LoneChannels.link]?.channels.count ?? 99) <= 64)
    }
}
