import BLEWire
import Testing

@testable import BLEHost

@Suite("Channels requested by this host")
struct OpeningTests {
    @Test("The request has this host's sizes and credits")
    func request() {
        var bench = LoneChannels()
        guard case .leCreditBasedConnectionRequest(let request)? = bench.ask(for: SPSM(wire: 0x25))?.signal else {
            return #expect(Bool(false))
        }
        #expect(request.spsm == SPSM(wire: 0x25))
        #expect(request.source == ChannelIdentifier(wire: 0x40))
        #expect((request.mtu, request.mps, request.credits) == (4096, 247, 64))
        for wrong in [UInt16(0), 0x100, 0xFFFF] { #expect(bench.ask(for: SPSM(wire: wrong)) == nil) }
        #expect(bench.openings == [Result](repeating: .failure(.invalidParameters), count: 3))
    }

    static let refusals: [Signal.ConnectionResult] = [
        .spsmNotSupported, .insufficientResources, .insufficientAuthentication, .insufficientAuthorization,
        .encryptionKeySizeTooShort, .insufficientEncryption, .invalidSource, .sourceAlreadyAllocated,
        .unacceptableParameters, .init(wire: 0x7777),
    ]

    @Test("A refusal is reported as received", arguments: refusals)
    func refused(result: Signal.ConnectionResult) {
        var bench = LoneChannels()
        guard let request = bench.ask() else { return #expect(Bool(false)) }
        #expect(bench.answers(to: .leCreditBasedConnectionResponse(.init(refusing: result)), request.identifier) == [])
        #expect(bench.openings == [.failure(.channel(result))])
        #expect(bench.layer.deadline == nil)
    }

    static let lacks: [Signal.ConnectionResult] = [.insufficientAuthentication, .insufficientEncryption]

    @Test("A channel refused for lack of security is requested again once the link is secure", arguments: lacks)
    func secured(result: Signal.ConnectionResult) {
        var bench = LoneChannels()
        bench.security = nil
        guard let request = bench.ask() else { return #expect(Bool(false)) }
        #expect(bench.answers(to: .leCreditBasedConnectionResponse(.init(refusing: result)), request.identifier) == [])
        #expect(bench.refusals == [result] && bench.openings == [])
        bench.layer.securityAnswered(LoneChannels.link, .secured, at: bench.now)
        let again = bench.drain()
        #expect(again.count == 1)
        guard case .leCreditBasedConnectionRequest? = again.first?.signal else { return #expect(Bool(false)) }
    }

    @Test("A channel that waits for a secure link fails with the reason why there is none", arguments: lacks)
    func unsecured(result: Signal.ConnectionResult) {
        var bench = LoneChannels()
        bench.security = nil
        guard let request = bench.ask() else { return #expect(Bool(false)) }
        _ = bench.answers(to: .leCreditBasedConnectionResponse(.init(refusing: result)), request.identifier)
        bench.layer.securityAnswered(LoneChannels.link, .refused(.encryptionTimedOut), at: bench.now)
        #expect(bench.drain().isEmpty)
        #expect(bench.openings == [.failure(.encryptionTimedOut)])
    }

    @Test(
        "A response with an invalid channel identifier opens nothing",
        arguments: [(0x3F, 100, 50), (0x80, 100, 50), (0, 100, 50)]
    )
    func misnamed(destination: UInt16, mtu: UInt16, mps: UInt16) {
        var bench = LoneChannels()
        guard let request = bench.ask() else { return #expect(Bool(false)) }
        let response = Signal.LECreditBasedConnectionResponse(
            destination: ChannelIdentifier(wire: destination),
            mtu: mtu,
            mps: mps,
            credits: 1
        )
        #expect(bench.answers(to: .leCreditBasedConnectionResponse(response), request.identifier) == [])
        #expect(bench.openings == [.failure(.peerMisbehaved)])
    }

    @Test("A channel with invalid sizes is closed immediately", arguments: [(22, 50), (100, 22), (100, 65_534)])
    func missized(mtu: UInt16, mps: UInt16) {
        var bench = LoneChannels()
        guard let request = bench.ask() else { return #expect(Bool(false)) }
        let remote = ChannelIdentifier(wire: 0x41)
        let response = Signal.LECreditBasedConnectionResponse(destination: remote, mtu: mtu, mps: mps, credits: 1)
        let local = ChannelIdentifier(wire: 0x40)
        #expect(
            bench.answers(to: .leCreditBasedConnectionResponse(response), request.identifier)
                == [.disconnectionRequest(.init(destination: remote, source: local))]
        )
        #expect(bench.openings == [.failure(.peerMisbehaved)])
        #expect(bench.closings.isEmpty)
    }

    @Test("A channel identifier that the peer already uses ends both channels")
    func doubled() {
        var bench = LoneChannels()
        let first = bench.opened(remote: 0x41)
        guard let request = bench.ask() else { return #expect(Bool(false)) }
        let remote = ChannelIdentifier(wire: 0x41)
        let response = Signal.LECreditBasedConnectionResponse(destination: remote, mtu: 100, mps: 50, credits: 1)
        #expect(bench.answers(to: .leCreditBasedConnectionResponse(response), request.identifier) == [])
        #expect(bench.closings == [.peerMisbehaved])
        #expect(bench.openings == [.failure(.peerMisbehaved)])
        #expect(bench.perform(.send([1]), on: first.id) == [])
        #expect(bench.packets.isEmpty)
    }

    @Test("Pending requests are matched to their responses in any order")
    func concurrent() {
        var bench = LoneChannels()
        let requests = (0..<64).compactMap { bench.ask(for: SPSM(wire: UInt16(0x80 + $0))) }
        #expect(requests.count == 64)
        for (number, request) in requests.enumerated().reversed() {
            let response = Signal.LECreditBasedConnectionResponse(
                destination: ChannelIdentifier(wire: UInt16(0x40 + number)),
                mtu: 100,
                mps: 50,
                credits: 1
            )
            _ = bench.answers(to: .leCreditBasedConnectionResponse(response), request.identifier)
        }
        let opened = bench.openings.compactMap { try? $0.get().psm.wire }
        #expect(opened == (0..<64).reversed().map { UInt16(0x80 + $0) })
    }

    @Test("A peer that does not support channels or does not respond causes one failure")
    func unanswered() {
        var bench = LoneChannels()
        guard let request = bench.ask() else { return #expect(Bool(false)) }
        _ = bench.answers(to: .commandReject(.notUnderstood), request.identifier)
        #expect(bench.openings == [.failure(.notSupported)])
        _ = bench.ask()
        _ = bench.advance(by: SignalExchange.timeout)
        #expect(bench.openings == [.failure(.notSupported), .failure(.timedOut)])
        #expect(bench.notes.contains(.signalTimedOut(LoneChannels.link)))
        guard let last = bench.ask() else { return #expect(Bool(false)) }
        bench.layer.linkDown(LoneChannels.link, failure: .notConnected)
        _ = bench.drain()
        #expect(bench.openings.last == .failure(.notConnected))
        #expect(bench.openings.count == 3)
        #expect(bench.answers(to: .commandReject(.notUnderstood), last.identifier) == [])
    }

    @Test("A channel that opens after its client has left is closed")
    func withdrawn() {
        var bench = LoneChannels()
        guard let request = bench.ask() else { return #expect(Bool(false)) }
        bench.layer.detach(LoneChannels.app, from: LoneChannels.link, at: bench.now)
        _ = bench.drain()
        #expect(bench.openings == [.failure(.cancelled)])
        let remote = ChannelIdentifier(wire: 0x41)
        let response = Signal.LECreditBasedConnectionResponse(destination: remote, mtu: 100, mps: 50, credits: 1)
        #expect(
            bench.answers(to: .leCreditBasedConnectionResponse(response), request.identifier)
                == [.disconnectionRequest(.init(destination: remote, source: ChannelIdentifier(wire: 0x40)))]
        )
        #expect(bench.openings.count == 1)
    }
}
