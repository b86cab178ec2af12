import BLEWire
import Testing

@testable import BLEHost

@Suite("Enhanced bearers of a client")
struct ClientBearerTests {
    static let app = LoneLayer.app, other = ClientID(rawValue: 8)

    /// A central with two apps, on a link with enhanced bearers.
    struct Bench {
        var lone: LoneLayer
        var channels: [ChannelID] = []

        init(bearers: [Int] = [517, 517], mtu: Int = 517) {
            lone = LoneLayer(role: .central, mtu: mtu, offersBearers: true)
            lone.layer.attach(other, to: LoneLayer.link)
            for mtu in bearers {
                let id = ChannelID(rawValue: UInt64(100 + channels.count))
                let channel = OpenedChannel(id: id, psm: .enhancedATT, outgoingMTU: mtu, incomingMTU: 517)
                lone.layer.receive(.opened(channel), on: LoneLayer.link, at: lone.now)
                channels.append(id)
            }
            _ = lone.sent()
        }

        /// The packets that go out on the unenhanced bearer, and those on others, by bearer.
        mutating func perform(_ request: AttributeRequest, for client: ClientID = app) -> [String] {
            lone.onBearers = []
            let unenhanced = lone.perform(request, for: client).map { "0: \($0.hexadecimal)" }
            return unenhanced + enhanced()
        }

        /// The peer sends this on a bearer, of which 0 is the unenhanced one.
        mutating func answer(_ pdu: String, on bearer: Int) -> [String] {
            lone.onBearers = []
            guard bearer > 0 else { return lone.answers(to: [UInt8](pdu)).map { "0: \($0.hexadecimal)" } + enhanced() }
            return tell(.received([UInt8](pdu)), on: bearer)
        }

        mutating func tell(_ event: ChannelEvent, on bearer: Int) -> [String] {
            lone.onBearers = []
            lone.layer.receive(.channel(channels[bearer - 1], event), on: LoneLayer.link, at: lone.now)
            return lone.sent().map { "0: \($0.hexadecimal)" } + enhanced()
        }

        private func enhanced() -> [String] {
            lone.onBearers.map { packet in
                "\((channels.firstIndex(of: packet.channel) ?? -1) + 1): \(packet.pdu.hexadecimal)"
            }
        }
    }

    static func read(_ handle: UInt16) -> AttributeRequest { .read(AttributeHandle(wire: handle)) }

    static func write(_ handle: UInt16, _ count: Int = 1) -> AttributeRequest {
        .write(AttributeHandle(wire: handle), [UInt8](repeating: 7, count: count))
    }

    static func value(_ handle: UInt16, _ value: [UInt8]) -> PeerEvent {
        .valueRead(AttributeHandle(wire: handle), .success(value))
    }

    @Test("Reads of one app are spread over the bearers, and answered in order")
    func spread() {
        var bench = Bench()
        #expect(bench.perform(Self.read(1)) == ["0: 0a0100"])
        #expect(bench.perform(Self.read(2)) == ["1: 0a0200"])
        #expect(bench.perform(Self.read(3)) == ["2: 0a0300"])
        #expect(bench.perform(Self.read(4)) == [])
        #expect(bench.answer("0b 33", on: 2) == ["2: 0a0400"])
        #expect(bench.answer("0b 22", on: 1) == [])
        #expect(bench.lone.peerEvents() == [])
        #expect(bench.answer("0b 11", on: 0) == [])
        #expect(bench.lone.peerEvents() == [Self.value(1, [0x11]), Self.value(2, [0x22]), Self.value(3, [0x33])])
        _ = bench.answer("0b 44", on: 2)
        #expect(bench.lone.peerEvents() == [Self.value(4, [0x44])])
    }

    @Test("One app's fast read overtakes another's slow read")
    func passing() {
        var bench = Bench()
        #expect(bench.perform(Self.read(1)) == ["0: 0a0100"])
        #expect(bench.perform(Self.read(2), for: Self.other) == ["1: 0a0200"])
        _ = bench.answer("0b 22", on: 1)
        #expect(bench.lone.peerEvents(of: Self.other) == [Self.value(2, [0x22])])
        #expect(bench.lone.peerEvents() == [])
    }

    @Test("A write waits for its app's earlier requests, and later requests wait for the write")
    func barrier() {
        var bench = Bench()
        #expect(bench.perform(Self.read(1)) == ["0: 0a0100"])
        #expect(bench.perform(Self.write(2)) == [])
        #expect(bench.perform(Self.read(3)) == [])
        #expect(bench.perform(Self.write(4), for: Self.other) == ["1: 12040007"])
        #expect(bench.answer("0b 11", on: 0) == ["0: 12020007"])
        #expect(bench.answer("13", on: 0) == ["0: 0a0300"])
        #expect(bench.perform(Self.read(3)) == [])
        #expect(bench.answer("0b 33", on: 0) == ["0: 0a0300"])
    }

    @Test("Long writes stay on the unenhanced bearer, since the peer has a single prepare queue")
    func parts() {
        var bench = Bench(bearers: [64, 128], mtu: 64)
        #expect(bench.perform(Self.read(1), for: Self.other).count == 1)
        #expect(bench.perform(Self.write(2, 62)).first?.hasPrefix("2: ") == true)
        _ = bench.answer("13", on: 2)
        #expect(bench.perform(Self.write(2, 61)).first?.hasPrefix("1: ") == true)
        _ = bench.answer("13", on: 1)
        #expect(bench.perform(Self.write(2, 126)) == [])
        #expect(bench.answer("0b 11", on: 0).first?.hasPrefix("0: 160200") == true)
    }

    @Test("Write commands neither overtake requests on other bearers nor are overtaken by them")
    func commands() {
        var bench = Bench()
        let command = AttributeRequest.writeCommand(AttributeHandle(wire: 9), [1])
        #expect(bench.perform(Self.read(1), for: Self.other) == ["0: 0a0100"])
        #expect(bench.perform(Self.read(2)) == ["1: 0a0200"])
        #expect(bench.perform(command) == [])
        #expect(bench.answer("0b 22", on: 1) == ["0: 52090001"])
        #expect(bench.perform(Self.read(3)) == [])
        bench.lone.take()
        #expect(bench.answer("0b 11", on: 0) == ["0: 0a0300"])
    }

    @Test("A long value is read in parts of the bearer's MTU, even when that grows")
    func long() {
        var bench = Bench(bearers: [64])
        _ = bench.perform(Self.read(1), for: Self.other)
        #expect(bench.perform(Self.read(2)) == ["1: 0a0200"])
        bench.lone.layer.receive(.mtuChanged(bench.channels[0], 100), on: LoneLayer.link, at: bench.lone.now)
        let part = String(repeating: "77", count: 63)
        #expect(bench.answer("0b" + part, on: 1) == ["1: 0c02003f00"])
        #expect(bench.answer("0d" + part, on: 1) == [])
        #expect(bench.lone.peerEvents() == [Self.value(2, [UInt8](repeating: 0x77, count: 126))])
    }

    @Test("A read on a lost bearer is repeated and answered in order")
    func lost() {
        var bench = Bench()
        _ = bench.perform(Self.read(1), for: Self.other)
        _ = bench.perform(Self.read(2))
        _ = bench.perform(Self.read(3))
        _ = bench.perform(Self.read(4))
        #expect(bench.tell(.closed(nil), on: 1) == [])
        #expect(bench.answer("0b 33", on: 2) == ["2: 0a0400"])
        #expect(bench.answer("0b 44", on: 2) == [])
        #expect(bench.lone.peerEvents() == [])
        #expect(bench.answer("0b 11", on: 0) == ["0: 0a0200"])
        #expect(bench.lone.peerEvents(of: Self.other) == [Self.value(1, [0x11])])
        #expect(bench.answer("0b 22", on: 0) == [])
        #expect(
            bench.lone.peerEvents() == [Self.value(2, [0x22]), Self.value(3, [0x33]), Self.value(4, [0x44])]
        )
    }

    @Test("A write on a lost bearer fails, since its effect is unknown")
    func lostWrite() {
        var bench = Bench()
        _ = bench.perform(Self.read(1), for: Self.other)
        _ = bench.perform(Self.write(2))
        _ = bench.perform(Self.read(3))
        #expect(bench.tell(.closed(nil), on: 1) == ["2: 0a0300"])
        #expect(bench.lone.peerEvents() == [.valueWritten(AttributeHandle(wire: 2), .att(.unlikelyError))])
        _ = bench.answer("0b 33", on: 2)
        #expect(bench.lone.peerEvents() == [Self.value(3, [0x33])])
        #expect(bench.answer("0b 11", on: 0) == [])
    }

    @Test("Pending repeats are answered when the app leaves or the link ends", arguments: [true, false])
    func lostAndLeft(leaves: Bool) {
        var bench = Bench()
        _ = bench.perform(Self.read(1), for: Self.other)
        _ = bench.perform(Self.read(2))
        _ = bench.perform(Self.read(3))
        _ = bench.tell(.closed(nil), on: 1)
        _ = bench.answer("0b 33", on: 2)
        if leaves {
            bench.lone.layer.detach(Self.app, from: LoneLayer.link, at: bench.lone.now)
        } else {
            bench.lone.layer.linkDown(LoneLayer.link, failure: .notConnected, at: bench.lone.now)
        }
        _ = bench.lone.sent()
        let end = leaves ? Failure.cancelled : .notConnected
        #expect(
            bench.lone.peerEvents() == [
                .valueRead(AttributeHandle(wire: 2), .failure(end)), Self.value(3, [0x33]),
            ]
        )
        if leaves { #expect(bench.answer("0b 11", on: 0) == []) }
    }

    @Test("Requests refused as out of sync on several bearers are repeated once the client is change-aware")
    func outOfSync() {
        var bench = Bench()
        #expect(bench.perform(Self.read(1)) == ["0: 0a0100"])
        #expect(bench.perform(Self.read(2)) == ["1: 0a0200"])
        #expect(bench.perform(Self.write(3), for: Self.other) == ["2: 12030007"])
        #expect(bench.perform(Self.read(4)) == [])
        #expect(bench.answer("01 0a 0200 12", on: 1) == [])
        #expect(bench.perform(Self.read(5)) == [])
        #expect(bench.answer("01 12 0300 12", on: 2) == [])
        #expect(bench.answer("01 0a 0100 12", on: 0) == ["0: 080100ffff2a2b"])
        #expect(bench.answer("01 08 0100 0a", on: 0) == ["0: 0a0100", "1: 0a0400", "2: 0a0500"])
        #expect(bench.answer("0b 44", on: 1) == [])
        #expect(bench.answer("0b 55", on: 2) == [])
        #expect(bench.lone.peerEvents() == [])
        #expect(bench.answer("0b 11", on: 0) == ["0: 0a0200"])
        #expect(bench.answer("0b 22", on: 0) == ["0: 12030007"])
        #expect(
            bench.lone.peerEvents() == [
                Self.value(1, [0x11]), Self.value(2, [0x22]), Self.value(4, [0x44]), Self.value(5, [0x55]),
            ]
        )
        #expect(bench.answer("13", on: 0) == [])
        #expect(bench.lone.peerEvents(of: Self.other) == [.valueWritten(AttributeHandle(wire: 3), nil)])
    }

    @Test("A transaction unanswered for 30 s closes its bearer but not the link")
    func overdue() {
        var bench = Bench()
        _ = bench.perform(Self.read(1), for: Self.other)
        _ = bench.perform(Self.read(2))
        _ = bench.answer("0b 11", on: 0)
        _ = bench.lone.advance(by: ATT.transactionTimeout)
        #expect(bench.lone.peerEvents() == [.valueRead(AttributeHandle(wire: 2), .failure(.timedOut))])
        #expect(bench.lone.bearerRequests == [.channel(bench.channels[0], .close)])
        #expect(!bench.lone.others.contains(.abandon(LoneLayer.link)))
        #expect(bench.tell(.closed(nil), on: 1) == [])
        #expect(bench.lone.peerEvents() == [])
    }

    @Test(
        "Requests under way are answered once and in order when the app leaves or the link ends",
        arguments: [true, false],
        [1, 2]
    )
    func leaving(leaves: Bool, answered: Int) {
        var bench = Bench()
        for handle in UInt16(1)...5 { _ = bench.perform(Self.read(handle)) }
        _ = bench.answer("0b 22", on: answered)
        if leaves {
            bench.lone.layer.detach(Self.app, from: LoneLayer.link, at: bench.lone.now)
        } else {
            bench.lone.layer.linkDown(LoneLayer.link, failure: .notConnected, at: bench.lone.now)
        }
        _ = bench.lone.sent()
        let handles = bench.lone.peerEvents().compactMap { event -> UInt16? in
            if case .valueRead(let handle, _) = event { handle.wire } else { nil }
        }
        #expect(handles == [1, 2, 3, 4, 5])
        if leaves { #expect(bench.answer("0b 11", on: 0) == [] && bench.answer("0b 33", on: 2) == []) }
    }

    @Test("A value on a bearer is delivered and confirmed there, and a response answers only its bearer's request")
    func strays() {
        var bench = Bench()
        _ = bench.perform(Self.read(1))
        #expect(bench.answer("0b 99", on: 1) == [])
        #expect(bench.lone.notes.contains(.unexpectedResponse(.attribute, LoneLayer.link)))
        #expect(bench.lone.peerEvents() == [])
        #expect(bench.answer("1d 0900 01", on: 2) == ["2: 1e"])
        #expect(bench.answer("1d", on: 1) == ["1: 1e"])
        #expect(bench.answer("03 4000", on: 1) == [])
        #expect(bench.answer("0a 0300", on: 2).first?.hasPrefix("2: 0") == true)
    }

    /// What a central asks a peer, after which it may open bearers.
    enum Answer: CaseIterable { case yes, no, unknown, unencrypted, switchedOff }

    @Test("Bearers are opened on an encrypted link to a peer that supports them", arguments: Answer.allCases)
    func opening(answer: Answer) {
        var lone = LoneLayer(role: .central, offersBearers: answer != .switchedOff)
        if answer != .unencrypted { lone.layer.secure(LoneLayer.link, .key(.encrypted)) }
        var asked = 0
        var packets = lone.advance(by: .seconds(3))
        while let packet = packets.popLast() {
            if packet == [UInt8]("08 0100 ffff 3a2b") {
                asked += 1
                packets += lone.answers(
                    to: [UInt8](
                        answer == .unknown ? "01 08 0100 0a" : answer == .yes ? "09 03 0700 01" : "09 03 0700 00"
                    )
                )
            } else {
                packets += lone.answers(to: [0x01, packet[0], 1, 0, 0x0A])
            }
            packets += lone.advance(by: .seconds(3))
        }
        #expect(asked == (answer == .unencrypted || answer == .switchedOff ? 0 : 1))
        #expect(lone.bearerRequests == (answer == .yes ? [.open(BearerOpening.count)] : []))
    }
}
