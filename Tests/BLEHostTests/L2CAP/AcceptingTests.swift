import BLEWire
import Testing

@testable import BLEHost

@Suite("Channels requested by peers")
struct AcceptingTests {
    struct Single: Sendable, CustomTestStringConvertible {
        var name: String
        var isEncrypted = false
        var spsm: UInt16?
        var source: UInt16 = 0x42
        var mtu: UInt16 = 23
        var mps: UInt16 = 23
        var credits: UInt16 = 0
        let result: Signal.ConnectionResult

        var testDescription: String { name }
    }

    static let singles: [Single] = [
        .init(name: "the least of everything", result: .success),
        .init(
            name: "the most of everything",
            source: 0x7F,
            mtu: 65_535,
            mps: 65_533,
            credits: 65_535,
            result: .success
        ),
        .init(name: "MTU 22", mtu: 22, result: .unacceptableParameters),
        .init(name: "MPS 22", mps: 22, result: .unacceptableParameters),
        .init(name: "MPS 65534", mps: 65_534, result: .unacceptableParameters),
        .init(name: "SPSM 0", spsm: 0, result: .spsmNotSupported),
        .init(name: "a fixed SPSM", spsm: 0x25, result: .spsmNotSupported),
        .init(name: "an SPSM that is not published", spsm: 0xF0, result: .spsmNotSupported),
        .init(name: "an SPSM that there is not", spsm: 0x100, result: .spsmNotSupported),
        .init(name: "a source below the range", source: 0x3F, result: .invalidSource),
        .init(name: "a source above the range", source: 0x80, result: .invalidSource),
        .init(name: "no source", source: 0, result: .invalidSource),
        .init(name: "a source that is taken", source: 0x50, result: .sourceAlreadyAllocated),
        .init(name: "no encryption", isEncrypted: true, result: .insufficientAuthentication),
    ]

    @Test("A request for one channel gets the specified response", arguments: singles)
    func single(_ single: Single) {
        var bench = LoneChannels()
        _ = bench.accepted(remote: 0x50)
        let spsm = single.isEncrypted ? bench.encrypted : bench.open
        let request = Signal.LECreditBasedConnectionRequest(
            spsm: single.spsm.map { SPSM(wire: $0) } ?? spsm,
            source: ChannelIdentifier(wire: single.source),
            mtu: single.mtu,
            mps: single.mps,
            credits: single.credits
        )
        let answers = bench.answers(to: .leCreditBasedConnectionRequest(request))
        guard case .leCreditBasedConnectionResponse(let response)? = answers.first, answers.count == 1 else {
            return #expect(Bool(false), "\(answers)")
        }
        #expect(response.result == single.result)
        #expect(bench.accepted.count == (single.result == .success ? 1 : 0))
        if single.result == .success {
            #expect(response.destination.isDynamic)
            #expect(bench.accepted.first?.outgoingMTU == Int(single.mtu))
            #expect((Int(response.mtu), Int(response.mps), Int(response.credits)) == (4096, 247, 64))
        } else {
            #expect(response == .init(refusing: single.result))
        }
    }

    struct Several: Sendable, CustomTestStringConvertible {
        var name: String
        var isEncrypted = false
        var spsm: UInt16?
        var sources: [UInt16] = [0x42]
        var mtu: UInt16 = 64
        var mps: UInt16 = 64
        var credits: UInt16 = 1
        let result: Signal.ConnectionResult
        /// Which of the channels are open then.
        var open: [Bool]

        var testDescription: String { name }
    }

    static let severals: [Several] = [
        .init(name: "one", result: .success, open: [true]),
        .init(
            name: "five",
            sources: [0x42, 0x43, 0x7F, 0x60, 0x40],
            result: .success,
            open: [true, true, true, true, true]
        ),
        .init(name: "MTU 63", mtu: 63, result: .invalidParameters, open: [false]),
        .init(name: "MPS 63", sources: [0x42, 0x43], mps: 63, result: .invalidParameters, open: [false, false]),
        .init(name: "MPS 65534", mps: 65_534, result: .invalidParameters, open: [false]),
        .init(name: "no credits", credits: 0, result: .invalidParameters, open: [false]),
        .init(
            name: "an unknown SPSM",
            spsm: 0xF0,
            sources: [0x42, 0x43],
            result: .spsmNotSupported,
            open: [false, false]
        ),
        .init(name: "no encryption", isEncrypted: true, result: .insufficientAuthentication, open: [false]),
        .init(
            name: "one source out of range",
            sources: [0x42, 0x3F, 0x43],
            result: .invalidSource,
            open: [true, false, true]
        ),
        .init(name: "one source taken", sources: [0x50, 0x42], result: .sourceAlreadyAllocated, open: [false, true]),
        .init(name: "one source twice", sources: [0x42, 0x42], result: .sourceAlreadyAllocated, open: [true, false]),
        .init(name: "all sources bad", sources: [0x50, 0x00], result: .sourceAlreadyAllocated, open: [false, false]),
    ]

    static func request(_ bench: LoneChannels, _ several: Several) -> Signal {
        let spsm = several.isEncrypted ? bench.encrypted : bench.open
        return .creditBasedConnectionRequest(
            .init(
                spsm: several.spsm.map { SPSM(wire: $0) } ?? spsm,
                mtu: several.mtu,
                mps: several.mps,
                credits: several.credits,
                sources: several.sources.map { ChannelIdentifier(wire: $0) }
            )
        )
    }

    @Test("A request for several channels gets a response for each", arguments: severals)
    func several(_ several: Several) {
        var bench = LoneChannels()
        _ = bench.accepted(remote: 0x50)
        let answers = bench.answers(to: Self.request(bench, several))
        guard case .creditBasedConnectionResponse(let response)? = answers.first, answers.count == 1 else {
            return #expect(Bool(false), "\(answers)")
        }
        #expect(response.result == several.result)
        #expect(response.destinations.map { $0 != .none } == several.open)
        #expect(Set(response.destinations.filter { $0 != .none }).count == several.open.count { $0 })
        #expect(bench.accepted.count == several.open.count { $0 })
        #expect(response.mtu == (several.open.contains(true) ? 4096 : 0))
    }

    @Test("A link has at most 64 channels, and room again once one is closed")
    func limit() {
        var bench = LoneChannels()
        for channel in UInt16(0x40)...0x7D { #expect(bench.accepted(remote: channel) != nil) }
        let several = Several(
            name: "three",
            sources: [0x7E, 0x7F, 0x3F],
            result: .success,
            open: []
        )
        let answers = bench.answers(to: Self.request(bench, several))
        guard case .creditBasedConnectionResponse(let response)? = answers.first else {
            return #expect(Bool(false), "\(answers)")
        }
        #expect(response.destinations.map { $0 != .none } == [true, true, false])
        #expect(bench.ask() == nil)
        #expect(bench.openings == [.failure(.limitReached)])
        let first = bench.layer.links.values.first { _ in true }?.channels.first
        let local = first?.local ?? .none, remote = first?.remote ?? .none
        let end = Signal.disconnectionRequest(.init(destination: local, source: remote))
        #expect(bench.answers(to: end) == [.disconnectionResponse(.init(destination: local, source: remote))])
        #expect(bench.accepted(remote: remote.wire) != nil)
    }

    @Test("Each published channel has its own dynamic SPSM, up to the limit, and is unknown once withdrawn")
    func publishing() {
        var bench = LoneChannels()
        for _ in 0..<130 { bench.layer.publish(.unencrypted, for: LoneChannels.app) }
        _ = bench.drain()
        var published: [SPSM] = [], failures: [Failure] = []
        for event in bench.events {
            guard case .server(.channelPublished(let psm, let failure)) = event else { continue }
            if let failure { failures.append(failure) } else { published.append(psm) }
        }
        #expect(Set(published + [bench.open, bench.encrypted]).count == 128)
        #expect(published.allSatisfy { SPSM.dynamic.contains($0) })
        #expect(failures == [.limitReached, .limitReached, .limitReached, .limitReached])
        bench.events = []
        bench.layer.unpublish(published[0], for: LoneChannels.server)
        bench.layer.unpublish(published[0], for: LoneChannels.app)
        bench.layer.unpublish(published[0], for: LoneChannels.app)
        _ = bench.drain()
        #expect(
            bench.events == [.notFound, nil, .notFound].map { .server(.channelUnpublished(published[0], $0)) }
        )
    }
}
