import BLEWire
import Testing

@testable import BLEHost

@Suite("Signalling channel")
struct SignalExchangeTests {
    let identifier = SignalIdentifier(wire: 7) ?? .first
    let wish = Signal.ConnectionParameterUpdateRequest(intervalMin: 12, intervalMax: 24, latency: 0, timeout: 200)

    func receive(
        _ exchange: inout SignalExchange,
        _ bytes: [UInt8],
        isCentral: Bool = true
    ) -> SignalExchange.OnReceive? {
        do { return try exchange.receive(bytes.span, isCentral: isCentral) } catch { return nil }
    }

    func packet(_ signal: Signal) -> SignalPacket { SignalPacket(signal, identifier: identifier) }

    @Test("A central judges what a peripheral asks for, and a peripheral does not")
    func judge() {
        var exchange = SignalExchange()
        let request = packet(.connectionParameterUpdateRequest(wish)).encoded
        #expect(receive(&exchange, request) == .judge(wish, identifier))
        #expect(
            receive(&exchange, request, isCentral: false) == .reply(packet(.commandReject(.notUnderstood)))
        )
    }

    @Test("Channels are refused, and so is what nobody knows")
    func refusals() {
        var exchange = SignalExchange()
        let channel = ChannelIdentifier(wire: 0x40)
        let old = Signal.LECreditBasedConnectionRequest(
            spsm: SPSM(wire: 0x80),
            source: channel,
            mtu: 100,
            mps: 100,
            credits: 1
        )
        #expect(
            receive(&exchange, packet(.leCreditBasedConnectionRequest(old)).encoded)
                == .reply(packet(.leCreditBasedConnectionResponse(.init(refusing: .spsmNotSupported))))
        )
        let new = Signal.CreditBasedConnectionRequest(
            spsm: SPSM(wire: 0x80),
            mtu: 100,
            mps: 100,
            credits: 1,
            sources: [channel]
        )
        guard case .reply(let reply)? = receive(&exchange, packet(.creditBasedConnectionRequest(new)).encoded),
            case .creditBasedConnectionResponse(let response) = reply.signal
        else { return #expect(Bool(false)) }
        #expect(response.result == .spsmNotSupported)
        let end = Signal.DisconnectionRequest(destination: channel, source: ChannelIdentifier(wire: 0x41))
        #expect(
            receive(&exchange, packet(.disconnectionRequest(end)).encoded)
                == .reply(
                    packet(.commandReject(.invalidChannel(local: channel, remote: ChannelIdentifier(wire: 0x41))))
                )
        )
        #expect(
            receive(&exchange, [0x77, 7, 0, 0]) == .reply(packet(.commandReject(.notUnderstood)))
        )
    }

    @Test("A packet longer than the MTU is rejected as such, unless it is an answer")
    func tooLong() {
        var exchange = SignalExchange()
        let rest = [UInt8](repeating: 0, count: 30)
        #expect(
            receive(&exchange, [0x12, 7, 30, 0] + rest) == .reply(packet(.commandReject(.mtuExceeded(mtu: 23))))
        )
        #expect(receive(&exchange, [0x01, 7, 30, 0] + rest) == .stray)
        #expect(receive(&exchange, [0x12, 0, 30, 0] + rest) == nil)
    }

    @Test("One request at a time is under way, until it is answered, refused or given up")
    func requests() {
        let start = Instant()
        for answer in [0, 1, 2] {
            var exchange = SignalExchange()
            guard let request = exchange.request(wish, at: start) else { return #expect(Bool(false)) }
            let another = exchange.request(wish, at: start)
            #expect(another == nil)
            #expect(exchange.deadline == start + SignalExchange.timeout)
            let signal: Signal? =
                switch answer {
                case 0: .connectionParameterUpdateResponse(.init(.accepted))
                case 1: .commandReject(.notUnderstood)
                default: nil
                }
            if let signal {
                let stray = SignalPacket(signal, identifier: request.identifier.next).encoded
                #expect(receive(&exchange, stray, isCentral: false) == .stray)
                let bytes = SignalPacket(signal, identifier: request.identifier).encoded
                #expect(receive(&exchange, bytes, isCentral: false) == .finished(isAccepted: answer == 0))
            } else {
                let expired = [29, 30].map { exchange.expire(at: start + .seconds($0)) }
                #expect(expired == [false, true])
            }
            #expect(exchange.deadline == nil)
            let next = exchange.request(wish, at: start)
            #expect(next?.identifier == request.identifier.next)
        }
    }

    @Test("Random packets never trap", arguments: UInt64(0)..<16)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed), exchange = SignalExchange()
        for _ in 0..<2_000 {
            let length = Int.random(in: 0...40, using: &random)
            var bytes: [UInt8] = (0..<length).map { _ in .random(in: 0...255, using: &random) }
            if length > 4, Bool.random(using: &random) {
                bytes[0] = .random(in: 0...0x1C, using: &random)
                (bytes[2], bytes[3]) = (UInt8(length - 4), 0)
            }
            _ = receive(&exchange, bytes, isCentral: Bool.random(using: &random))
        }
    }
}
