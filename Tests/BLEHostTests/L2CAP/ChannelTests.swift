import BLEWire
import Testing

@testable import BLEHost

@Suite("Open channels")
struct ChannelTests {
    @Test("Data is sent with the peer's credits, and counts as sent once the controller has sent it")
    func sends() {
        var bench = LoneChannels()
        let channel = bench.opened(credits: 2)
        #expect(channel.outgoingMTU == 100)
        #expect(channel.incomingMTU == 4096)
        let unit = [UInt8](0..<100)
        _ = bench.perform(.send(unit), on: channel.id)
        #expect(bench.packets.map(\.channel) == [0x41, 0x41])
        #expect(bench.packets.map(\.payload) == [[100, 0] + unit[..<48], Array(unit[48..<98])])
        _ = bench.take()
        #expect(bench.events.isEmpty)
        _ = bench.answers(to: .flowControlCredit(.init(channel: ChannelIdentifier(wire: 0x41), credits: 1)))
        #expect(bench.packets.last?.payload == [98, 99])
        _ = bench.take()
        #expect(bench.events == [.channel(channel.id, .sent(100))])
    }

    @Test("Received data is reported, and consuming it gives credits to the peer")
    func receives() {
        var limits = Limits()
        limits.channelCredits = 2
        var bench = LoneChannels(limits: limits)
        let channel = bench.opened()
        let credit = Signal.flowControlCredit(.init(channel: ChannelIdentifier(wire: 0x40), credits: 1))
        #expect(bench.answers(toData: [3, 0, 7, 8], on: 0x40) == [credit])
        #expect(bench.answers(toData: [9], on: 0x40) == [])
        #expect(bench.events == [.channel(channel.id, .received([7, 8, 9]))])
        #expect(bench.perform(.consumed(2), on: channel.id) == [])
        #expect(bench.perform(.consumed(1), on: channel.id) == [credit])
        #expect(bench.answers(toData: [0, 0], on: 0x40) == [credit])
        #expect(bench.events.count == 1)
    }

    /// What the peer sends on a channel, and what that breaks.
    static let misdeeds: [([[UInt8]], ChannelFault)] = [
        ([[9]], .lengthMissing),
        ([[0xFF, 0xFF]], .sduTooLong),
        ([[1, 0, 1, 2]], .sduExceeded),
        ([[9, 0] + [UInt8](repeating: 0, count: 246)], .frameTooLong),
        ([[1, 0, 1], [1, 0, 1], [1, 0, 1]], .noCredit),
    ]

    @Test("A peer that breaks the rules loses only that channel", arguments: misdeeds)
    func broken(packets: [[UInt8]], fault: ChannelFault) {
        var limits = Limits()
        limits.channelCredits = 2
        var bench = LoneChannels(limits: limits)
        let channel = bench.opened(remote: 0x41), other = bench.opened(remote: 0x42)
        let (local, remote) = (ChannelIdentifier(wire: 0x40), ChannelIdentifier(wire: 0x41))
        var signals: [Signal] = []
        for packet in packets { signals += bench.answers(toData: packet, on: 0x40) }
        #expect(signals == [.disconnectionRequest(.init(destination: remote, source: local))])
        #expect(bench.notes == [.channelBroken(fault, local, LoneChannels.link)])
        #expect(bench.events.last == .channel(channel.id, .closed(.peerMisbehaved)))
        bench.events = []
        #expect(bench.answers(toData: [1, 0, 1], on: 0x40) == [])
        #expect(bench.answers(toData: [1, 0, 5], on: 0x41) == [])
        #expect(bench.events == [.channel(other.id, .received([5]))])
    }

    @Test(
        "Too many credits close a channel, and zero credits change nothing",
        arguments: [0, 1, 65_525, 65_526, 65_535]
    )
    func credits(count: UInt16) {
        var bench = LoneChannels()
        _ = bench.opened(credits: 10)
        let signals = bench.answers(to: .flowControlCredit(.init(channel: .init(wire: 0x41), credits: count)))
        let end = Signal.disconnectionRequest(.init(destination: .init(wire: 0x41), source: .init(wire: 0x40)))
        #expect(signals == (count > 65_525 ? [end] : []))
        #expect(bench.closings == (count > 65_525 ? [.peerMisbehaved] : []))
        #expect(bench.notes.isEmpty == (1...65_525 ~= count))
    }

    @Test("A forbidden request of a client has no effect, or closes the channel")
    func clients() {
        var limits = Limits()
        limits.queuedChannelOctets = 150
        var bench = LoneChannels(limits: limits)
        let first = bench.opened(remote: 0x41, credits: 0), second = bench.opened(remote: 0x42, credits: 0)
        _ = bench.perform(.send([1]), on: first.id, for: LoneChannels.server)
        _ = bench.perform(.send([1]), on: ChannelID(rawValue: 99))
        _ = bench.perform(.send([]), on: first.id)
        #expect(bench.packets.isEmpty && bench.events.isEmpty)
        #expect(bench.perform(.send([UInt8](repeating: 0, count: 101)), on: first.id).count == 1)
        #expect(bench.events == [.channel(first.id, .closed(.invalidParameters))])
        _ = bench.perform(.send([UInt8](repeating: 0, count: 100)), on: second.id)
        _ = bench.perform(.send([UInt8](repeating: 0, count: 51)), on: second.id)
        #expect(bench.events.last == .channel(second.id, .closed(.limitReached)))
        #expect(bench.notes == [.limitReached(.queuedChannelOctets(LoneChannels.link))])
    }
}

@Suite("Closing channels")
struct ClosingTests {
    static let end = Signal.disconnectionRequest(.init(destination: .init(wire: 0x41), source: .init(wire: 0x40)))
    static let answer = Signal.disconnectionResponse(.init(destination: .init(wire: 0x41), source: .init(wire: 0x40)))

    @Test("A client's close is reported immediately, and the identifier is free once the peer responds or times out")
    func closed() {
        for isSilent in [false, true] {
            var bench = LoneChannels()
            let channel = bench.opened()
            #expect(bench.perform(.close, on: channel.id) == [Self.end])
            #expect(bench.closings == [nil])
            #expect(bench.perform(.close, on: channel.id) == [])
            #expect(bench.layer.links[LoneChannels.link]?.channels.count == 1)
            if isSilent {
                _ = bench.advance(by: SignalExchange.timeout)
            } else {
                _ = bench.answers(to: Self.answer, SignalIdentifier(wire: 2) ?? .first)
            }
            #expect(bench.layer.links[LoneChannels.link]?.channels.count == 0)
            #expect(bench.closings == [nil])
        }
    }

    @Test("Data sent before the close is sent first, and data received after it is dropped")
    func drained() {
        var bench = LoneChannels()
        let channel = bench.opened(credits: 1)
        _ = bench.perform(.send([UInt8](0..<60)), on: channel.id)
        #expect(bench.perform(.close, on: channel.id) == [])
        #expect(bench.answers(toData: [1, 0, 1], on: 0x40) == [])
        #expect(bench.take() == [])
        _ = bench.answers(to: .flowControlCredit(.init(channel: .init(wire: 0x41), credits: 1)))
        #expect(bench.packets.count == 2)
        #expect(bench.take() == [Self.end])
        #expect(bench.events == [.channel(channel.id, .closed(nil))])
    }

    @Test("A peer that gives no credits cannot keep a channel open")
    func stalled() {
        var bench = LoneChannels()
        let channel = bench.opened(credits: 0)
        _ = bench.perform(.send([1]), on: channel.id)
        #expect(bench.perform(.close, on: channel.id) == [])
        let almost = CreditChannel.drainTimeout - .nanoseconds(1)
        #expect(bench.advance(by: almost) == [])
        #expect(bench.advance(by: .nanoseconds(1)) == [Self.end])
    }

    @Test("A peer's close is answered, and reported to the client once")
    func byPeer() {
        var bench = LoneChannels()
        let channel = bench.opened()
        let ends = Signal.DisconnectionRequest(destination: .init(wire: 0x40), source: .init(wire: 0x41))
        let response = Signal.DisconnectionResponse(destination: .init(wire: 0x40), source: .init(wire: 0x41))
        let wrong = Signal.DisconnectionRequest(destination: .init(wire: 0x40), source: .init(wire: 0x42))
        #expect(bench.answers(to: .disconnectionRequest(wrong)) == [])
        #expect(bench.events.isEmpty)
        #expect(bench.answers(to: .disconnectionRequest(ends)) == [.disconnectionResponse(response)])
        #expect(bench.events == [.channel(channel.id, .closed(nil))])
        let rejection = Signal.CommandReject.invalidChannel(local: ends.destination, remote: ends.source)
        #expect(bench.answers(to: .disconnectionRequest(ends)) == [.commandReject(rejection)])
        #expect(bench.perform(.send([1]), on: channel.id) == [])
        #expect(bench.events.count == 1 && bench.packets.isEmpty)
    }

    @Test("Both ends may close at the same time")
    func crossing() {
        var bench = LoneChannels()
        let channel = bench.opened()
        _ = bench.perform(.close, on: channel.id)
        let ends = Signal.DisconnectionRequest(destination: .init(wire: 0x40), source: .init(wire: 0x41))
        let response = Signal.DisconnectionResponse(destination: .init(wire: 0x40), source: .init(wire: 0x41))
        #expect(bench.answers(to: .disconnectionRequest(ends)) == [.disconnectionResponse(response)])
        // A new channel may have the name before the answer to the old request is there.
        let request = Signal.CommandReject.invalidChannel(local: .init(wire: 0x41), remote: .init(wire: 0x40))
        _ = bench.opened(remote: 0x41)
        _ = bench.answers(to: .commandReject(request), SignalIdentifier(wire: 2) ?? .first)
        #expect(bench.layer.links[LoneChannels.link]?.channels.map(\.isOpen) == [true])
    }

    @Test("A peer that closes channels instead of responding leaves no pending requests, however often it does")
    func closedInsteadOfAnswered() {
        var bench = LoneChannels()
        for _ in 0..<600 {
            guard let channel = bench.accepted(),
                case .disconnectionRequest(let ours)? =
                    bench.perform(.close, on: channel.id, for: LoneChannels.server).first
            else { return #expect(Bool(false)) }
            let theirs = Signal.DisconnectionRequest(destination: ours.source, source: ours.destination)
            let response = Signal.DisconnectionResponse(destination: ours.source, source: ours.destination)
            #expect(bench.answers(to: .disconnectionRequest(theirs)) == [.disconnectionResponse(response)])
            #expect(bench.layer.deadline == nil)
        }
    }

    @Test("When a link ends, each of its channels ends once with the reason")
    func linkDown() {
        var bench = LoneChannels()
        let first = bench.opened(remote: 0x41), second = bench.opened(remote: 0x42)
        _ = bench.perform(.close, on: second.id)
        _ = bench.ask()
        bench.events = []
        bench.layer.linkDown(LoneChannels.link, failure: .poweredOff)
        _ = bench.drain()
        #expect(
            bench.events == [
                .peer(LoneChannels.peer, .channelOpened(SPSM(wire: 0x80), .failure(.poweredOff))),
                .channel(first.id, .closed(.poweredOff)),
            ]
        )
        #expect(bench.perform(.send([1]), on: first.id) == [])
        #expect(bench.layer.deadline == nil)
    }

    @Test("A session that ends closes its channels and withdraws its published ones")
    func session() {
        var bench = LoneChannels()
        let channel = bench.accepted()
        #expect(channel != nil)
        bench.layer.clientClosed(LoneChannels.server, at: bench.now)
        #expect(
            bench.drain().map(\.signal)
                == [.disconnectionRequest(.init(destination: .init(wire: 0x50), source: .init(wire: 0x40)))]
        )
        #expect(bench.accepted(remote: 0x51) == nil)
    }
}

@Suite("Reconfiguring channels")
struct ReconfiguringTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var mtu: UInt16 = 200
        var mps: UInt16 = 100
        var channels: [UInt16] = [0x60]
        let result: Signal.CreditBasedReconfigureResponse.Result

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        .init(name: "the same", result: .success),
        .init(name: "more", mtu: 65_535, mps: 65_533, result: .success),
        .init(name: "more on both", mtu: 300, mps: 101, channels: [0x60, 0x61], result: .success),
        .init(name: "a smaller MPS on one", mps: 64, result: .success),
        .init(name: "a smaller MPS on both", mps: 99, channels: [0x60, 0x61], result: .mpsReduced),
        .init(name: "a smaller MTU", mtu: 199, result: .mtuReduced),
        .init(name: "MTU 63", mtu: 63, result: .unacceptableParameters),
        .init(name: "MPS 63", mps: 63, result: .unacceptableParameters),
        .init(name: "MPS 65534", mps: 65_534, result: .unacceptableParameters),
        .init(name: "an unknown channel", channels: [0x60, 0x62], result: .invalidDestination),
        .init(name: "a channel twice", channels: [0x60, 0x60], result: .invalidDestination),
        .init(name: "a channel of the other kind", channels: [0x50], result: .invalidDestination),
    ]

    @Test("Sizes may grow, and either all channels change or none", arguments: cases)
    func reconfigure(_ one: Case) {
        var bench = LoneChannels()
        _ = bench.accepted(remote: 0x50)
        let request = Signal.CreditBasedConnectionRequest(
            spsm: bench.open,
            mtu: 200,
            mps: 100,
            credits: 5,
            sources: [ChannelIdentifier(wire: 0x60), ChannelIdentifier(wire: 0x61)]
        )
        _ = bench.answers(to: .creditBasedConnectionRequest(request))
        let channels = one.channels.map { ChannelIdentifier(wire: $0) }
        let answers = bench.answers(
            to: .creditBasedReconfigureRequest(.init(mtu: one.mtu, mps: one.mps, channels: channels))
        )
        #expect(answers == [.creditBasedReconfigureResponse(.init(one.result))])
        let sizes = bench.layer.links[LoneChannels.link]?.channels.map { [$0.outgoing.mtu, $0.outgoing.mps] }
        let changed = [Int(one.mtu), Int(one.mps)], same = [200, 100]
        let expected = [0x60, 0x61].map { one.result == .success && one.channels.contains($0) ? changed : same }
        #expect(sizes == [[100, 50]] + expected)
    }
}
