import BLEWire
import Testing

@testable import BLEHost

@Suite("Reconfiguration by this host")
struct ResizingTests {
    /// Channels of the app that take 100 octets in packets of 80.
    struct Bench {
        var lone: LoneChannels
        var ids: [ChannelID] = []

        init(_ count: Int = 2) {
            var limits = Limits()
            (limits.channelMTU, limits.channelPacket) = (100, 80)
            lone = LoneChannels(limits: limits)
            let owner = CreditChannel.Owner.client(LoneChannels.app)
            guard let (_, identifier) = EnhancedOpeningTests.ask(&lone, count, for: owner) else { return }
            let destinations = (0..<count).map { 0x50 + UInt16($0) }
            _ = lone.answers(to: EnhancedOpeningTests.response(.success, destinations), identifier)
            ids = lone.openings.compactMap { try? $0.get().id }
            lone.events = []
        }

        mutating func resize(_ ids: [ChannelID], _ mtu: Int, _ mps: Int) -> SignalPacket? {
            lone.layer.resize(ids, mtu: mtu, mps: mps, on: LoneChannels.link, at: lone.now)
            return lone.drain().first
        }

        var outcomes: [Failure?] {
            lone.events.compactMap { if case .channel(_, .resized(let failure)) = $0 { .some(failure) } else { nil } }
        }
    }

    @Test("A channel accepts larger SDUs and packets once the peer has agreed")
    func larger() {
        var bench = Bench(1)
        let request = bench.lone.perform(.resize(mtu: 200, mps: 150), on: bench.ids[0]).first
        let local = ChannelIdentifier(wire: 0x40)
        #expect(request == .creditBasedReconfigureRequest(.init(mtu: 200, mps: 150, channels: [local])))
        #expect(bench.outcomes == [])
        _ = bench.lone.answers(to: .creditBasedReconfigureResponse(.init(.success)), .first)
        #expect(bench.lone.notes.contains(.unexpectedResponse(.leSignaling, LoneChannels.link)))
    }

    @Test("The peer's response decides", arguments: [0, 1, 2, 3, 4, 0x1234])
    func answered(result: UInt16) {
        var bench = Bench(1)
        guard let packet = bench.resize(bench.ids, 200, 150) else { return #expect(Bool(false)) }
        let answer = Signal.CreditBasedReconfigureResponse(.init(wire: result))
        #expect(bench.lone.answers(to: .creditBasedReconfigureResponse(answer), packet.identifier) == [])
        #expect(bench.outcomes == [result == 0 ? nil : .invalidParameters])
        let unit: [UInt8] = [120, 0] + [UInt8](repeating: 7, count: 120)
        let answers = bench.lone.answers(toData: unit, on: 0x40)
        #expect(answers.isEmpty == (result == 0))
        #expect(bench.lone.closings == (result == 0 ? [] : [.peerMisbehaved]))
    }

    struct Wrong: Sendable {
        var channels = 1
        let mtu: Int
        let mps: Int
        let failure: Failure?
    }

    @Test(
        "An invalid reconfiguration is not sent",
        arguments: [
            Wrong(mtu: 99, mps: 80, failure: .invalidParameters),
            Wrong(mtu: 100, mps: 63, failure: .invalidParameters),
            Wrong(mtu: 65_536, mps: 80, failure: .invalidParameters),
            Wrong(mtu: 100, mps: 65_534, failure: .invalidParameters),
            Wrong(channels: 2, mtu: 100, mps: 79, failure: .invalidParameters),
            Wrong(mtu: 100, mps: 64, failure: nil),
            Wrong(channels: 2, mtu: 100, mps: 80, failure: nil),
        ]
    )
    func rules(wrong: Wrong) {
        var bench = Bench()
        let packet = bench.resize([ChannelID](bench.ids.prefix(wrong.channels)), wrong.mtu, wrong.mps)
        #expect((packet == nil) == (wrong.failure != nil))
        let expected: [Failure?] = wrong.failure.map { [Failure?](repeating: $0, count: wrong.channels) } ?? []
        #expect(bench.outcomes == expected)
    }

    @Test("A channel that was not opened in enhanced mode cannot be reconfigured")
    func single() {
        var lone = LoneChannels()
        let channel = lone.opened()
        #expect(lone.perform(.resize(mtu: 5_000, mps: 247), on: channel.id) == [])
        #expect(lone.events == [.channel(channel.id, .resized(.notSupported))])
    }

    @Test("A channel allows one request at a time, which fails after 30 s without a response")
    func once() {
        var bench = Bench()
        #expect(bench.resize(bench.ids, 200, 80) != nil)
        #expect(bench.resize([bench.ids[1]], 300, 80) == nil)
        #expect(bench.outcomes == [.alreadyInProgress])
        _ = bench.lone.advance(by: SignalExchange.timeout)
        #expect(bench.outcomes == [.alreadyInProgress, .timedOut, .timedOut])
        #expect(bench.resize([bench.ids[1]], 300, 80) != nil)
    }
}
