import BLEWire
import Testing

@testable import BLEHost

@Suite("Enhanced channel requests")
struct EnhancedOpeningTests {
    static let destinations = [UInt16](0x41...0x45).map { ChannelIdentifier(wire: $0) }

    /// Has the attribute layer ask for channels; returns the request that goes out.
    static func ask(
        _ bench: inout LoneChannels,
        _ count: Int = 3,
        for owner: CreditChannel.Owner = .attributes
    ) -> (Signal.CreditBasedConnectionRequest, SignalIdentifier)? {
        bench.layer.open(.enhancedATT, count: count, on: LoneChannels.link, for: owner, at: bench.now)
        guard let packet = bench.drain().first, case .creditBasedConnectionRequest(let request) = packet.signal else {
            return nil
        }
        return (request, packet.identifier)
    }

    static func response(
        _ result: Signal.ConnectionResult,
        _ destinations: [UInt16],
        mtu: UInt16 = 64,
        mps: UInt16 = 64,
        credits: UInt16 = 1
    ) -> Signal {
        .creditBasedConnectionResponse(
            .init(
                mtu: mtu,
                mps: mps,
                credits: credits,
                result: result,
                destinations: destinations.map { ChannelIdentifier(wire: $0) }
            )
        )
    }

    @Test("The request has its owner's sizes and credits, and the channel identifiers", arguments: 1...5)
    func request(count: Int) {
        var bench = LoneChannels(bearerMTU: 517)
        guard let (request, _) = Self.ask(&bench, count) else { return #expect(Bool(false)) }
        #expect(request.spsm == .enhancedATT)
        #expect((request.mtu, request.mps, request.credits) == (517, 247, 64))
        #expect(request.sources.map(\.wire) == (0..<count).map { 0x40 + UInt16($0) })
        guard let (other, _) = Self.ask(&bench, count, for: .client(LoneChannels.app)) else {
            return #expect(Bool(false))
        }
        #expect(other.mtu == 4096)
        #expect(Set(other.sources).isDisjoint(with: request.sources))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var result: Signal.ConnectionResult
        var destinations: [UInt16]
        var mtu: UInt16 = 64
        var mps: UInt16 = 64
        /// For each channel that was asked for: why it is not open.
        let failures: [Failure?]
        /// How many channels the peer is asked to close.
        var closings = 0

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        .init(name: "all", result: .success, destinations: [0x41, 0x42, 0x43], failures: [nil, nil, nil]),
        .init(
            name: "some refused for lack of resources",
            result: .insufficientResources,
            destinations: [0x41, 0, 0x43],
            failures: [nil, .channel(.insufficientResources), nil]
        ),
        .init(
            name: "some refused for their source",
            result: .invalidSource,
            destinations: [0, 0x41, 0],
            failures: [.channel(.invalidSource), nil, .channel(.invalidSource)]
        ),
        .init(
            name: "some refused since their source is taken",
            result: .sourceAlreadyAllocated,
            destinations: [0x41, 0x42, 0],
            failures: [nil, nil, .channel(.sourceAlreadyAllocated)]
        ),
        .init(
            name: "success with one left out",
            result: .success,
            destinations: [0x41, 0x42],
            failures: [nil, nil, .channel(.insufficientResources)]
        ),
        .init(
            name: "more than were asked for",
            result: .success,
            destinations: [0x41, 0x42, 0x43, 0x44],
            failures: [nil, nil, nil]
        ),
        .init(
            name: "a name that may not be",
            result: .success,
            destinations: [0x41, 0x3F, 0x43],
            failures: [nil, .peerMisbehaved, nil]
        ),
        .init(
            name: "MTU 63",
            result: .success,
            destinations: [0x41, 0x42, 0x43],
            mtu: 63,
            failures: [.peerMisbehaved, .peerMisbehaved, .peerMisbehaved],
            closings: 3
        ),
        .init(
            name: "MPS 63",
            result: .success,
            destinations: [0x41, 0, 0],
            mps: 63,
            failures: [.peerMisbehaved, .channel(.insufficientResources), .channel(.insufficientResources)],
            closings: 1
        ),
    ]

    @Test("Each channel is opened or refused individually", arguments: cases)
    func opened(_ one: Case) {
        var bench = LoneChannels(bearerMTU: 517)
        guard let (_, identifier) = Self.ask(&bench) else { return #expect(Bool(false)) }
        let response = Self.response(one.result, one.destinations, mtu: one.mtu, mps: one.mps)
        let answers = bench.answers(to: response, identifier)
        #expect(answers.count == one.closings)
        let failures: [Failure?] = bench.bearers.map { if case .refused(let failure) = $0 { failure } else { nil } }
        #expect(failures == one.failures)
        let late = bench.answers(to: response, identifier)
        #expect(late == [] && bench.bearers.count == 3)
    }

    static let refusals: [Signal.ConnectionResult] = [
        .spsmNotSupported, .insufficientResources, .insufficientAuthentication, .insufficientAuthorization,
        .encryptionKeySizeTooShort, .insufficientEncryption, .invalidSource, .sourceAlreadyAllocated,
        .unacceptableParameters, .invalidParameters, .init(wire: 0x7777),
    ]

    @Test("A refusal of all channels is reported for each", arguments: refusals, [true, false])
    func refused(result: Signal.ConnectionResult, namesThem: Bool) {
        var bench = LoneChannels(bearerMTU: 517)
        guard let (_, identifier) = Self.ask(&bench) else { return #expect(Bool(false)) }
        let answers = bench.answers(to: Self.response(result, namesThem ? [0, 0, 0] : [], mtu: 0, mps: 0), identifier)
        #expect(answers == [])
        #expect(bench.bearers == [BearerEvent](repeating: .refused(.channel(result)), count: 3))
        #expect(bench.layer.deadline == nil)
    }

    @Test(
        "Channels without a free identifier fail immediately, and the others are answered by the peer",
        arguments: 0...3
    )
    func unnamed(free: Int) {
        var bench = LoneChannels(bearerMTU: 517)
        let names = ChannelIdentifier.dynamic.upperBound.wire - ChannelIdentifier.dynamic.lowerBound.wire + 1
        for _ in free..<Int(names) { _ = Self.ask(&bench, 1, for: .client(LoneChannels.app)) }
        let asked = Self.ask(&bench)
        #expect(asked?.0.sources.count == (free == 0 ? nil : free))
        #expect(bench.bearers == [BearerEvent](repeating: .refused(.limitReached), count: 3 - free))
        guard let (_, identifier) = asked else { return }
        _ = bench.answers(to: Self.response(.insufficientResources, [], mtu: 0, mps: 0), identifier)
        let refused = [BearerEvent](repeating: .refused(.channel(.insufficientResources)), count: free)
        #expect(bench.bearers.suffix(free) == refused[...] && bench.bearers.count == 3)
    }

    @Test(
        "A peer that must ask its user is given time",
        arguments: [Signal.ConnectionResult.pending, .authenticationPending, .authorizationPending]
    )
    func pending(result: Signal.ConnectionResult) {
        var bench = LoneChannels(bearerMTU: 517)
        guard let (_, identifier) = Self.ask(&bench, 1) else { return #expect(Bool(false)) }
        #expect(bench.answers(to: Self.response(result, [0]), identifier) == [])
        #expect(bench.advance(by: SignalExchange.timeout) == [])
        #expect(bench.bearers == [])
        _ = bench.answers(to: Self.response(.success, [0x41]), identifier)
        #expect(bench.bearers.count == 1)
    }

    @Test("A bearer sends, and reports received data, credits and its end")
    func used() {
        var bench = LoneChannels(bearerMTU: 517)
        guard let (_, identifier) = Self.ask(&bench, 1) else { return #expect(Bool(false)) }
        _ = bench.answers(to: Self.response(.success, [0x41]), identifier)
        guard case .opened(let channel)? = bench.bearers.first else { return #expect(Bool(false)) }
        #expect((channel.incomingMTU, channel.outgoingMTU) == (517, 64))
        bench.layer.perform(.send([1, 2, 3]), on: channel.id, for: .attributes, at: bench.now)
        _ = bench.drain()
        #expect(bench.packets == [.init(channel: 0x41, payload: [3, 0, 1, 2, 3])])
        _ = bench.take()
        _ = bench.answers(toData: [2, 0, 8, 9], on: 0x40)
        let request = Signal.DisconnectionRequest(
            destination: ChannelIdentifier(wire: 0x40),
            source: ChannelIdentifier(wire: 0x41)
        )
        _ = bench.answers(to: .disconnectionRequest(request))
        let told: [ChannelEvent] = [.sent(3), .received([8, 9]), .closed(nil)]
        #expect(bench.bearers == [.opened(channel)] + told.map { .channel(channel.id, $0) })
    }

    @Test("Only its owner can use a bearer")
    func owned() {
        var bench = LoneChannels(bearerMTU: 517)
        guard let (_, identifier) = Self.ask(&bench, 1) else { return #expect(Bool(false)) }
        _ = bench.answers(to: Self.response(.success, [0x41], credits: 9), identifier)
        guard case .opened(let channel)? = bench.bearers.first else { return #expect(Bool(false)) }
        #expect(bench.perform(.send([1]), on: channel.id) == [] && bench.packets == [])
        #expect(bench.perform(.close, on: channel.id) == [])
        bench.layer.clientClosed(LoneChannels.app, at: bench.now)
        #expect(bench.drain().isEmpty && bench.bearers.count == 1)
    }

    struct Offer: Sendable {
        var isEncrypted = true
        var offers = true
        var count = 3
        let result: Signal.ConnectionResult
        let opened: Int
    }

    @Test(
        "Bearers are opened for a peer on an encrypted link, up to the limit",
        arguments: [
            Offer(result: .success, opened: 3),
            Offer(isEncrypted: false, result: .insufficientAuthentication, opened: 0),
            Offer(offers: false, result: .spsmNotSupported, opened: 0),
            Offer(count: 5, result: .insufficientResources, opened: 4),
        ]
    )
    func accepted(offer: Offer) {
        var limits = Limits()
        limits.enhancedBearers = 4
        var bench = LoneChannels(limits: limits, bearerMTU: offer.offers ? 517 : nil)
        if offer.isEncrypted { bench.trust = LinkTrust(.encrypted) }
        let request = Signal.CreditBasedConnectionRequest(
            spsm: .enhancedATT,
            mtu: 64,
            mps: 64,
            credits: 1,
            sources: [ChannelIdentifier](Self.destinations.prefix(offer.count))
        )
        let answers = bench.answers(to: .creditBasedConnectionRequest(request))
        guard case .creditBasedConnectionResponse(let response)? = answers.first else { return #expect(Bool(false)) }
        #expect(response.result == offer.result)
        #expect(response.destinations.count { $0 != .none } == offer.opened)
        #expect(bench.bearers.count == offer.opened)
        #expect(response.mtu == (offer.opened > 0 ? 517 : 0))
    }
}
