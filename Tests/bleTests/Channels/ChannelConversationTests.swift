import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Channels on the command line") @MainActor
struct ChannelConversationTests {
    /// What happened at one end.
    private final class End {
        var received = Data()
        var lines: [String] = []
        var trouble: CommandError?
        var isOver = false

        /// What the end says of the channel last: how many octets went out, and how many came in.
        var counts: [Int] { object(lines.last).map { [$0["sent"], $0["received"]].compactMap { $0 as? Int } } ?? [] }
        var events: [String] { lines.compactMap { object($0)?["event"] as? String } }

        private func object(_ line: String?) -> [String: Any]? {
            line.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        }
    }

    private let world: World
    private let phone: Machine
    private let sensor: Machine

    init() {
        world = World(seed: 3, conditions: .init(loss: 0.1))
        phone = world.machine("phone")
        sensor = world.machine("sensor", at: .init(x: 2))
    }

    private static func octets(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) })
    }

    /// Sends `data` through `channel` in pieces, and leaves when so much has come in.
    private func talk(
        _ channel: CBL2CAPChannel,
        _ data: Data,
        _ endConditions: ChannelConversation.EndConditions,
        at end: End,
        reports: Bool = false,
        begun: (ChannelConversation) -> Void = { _ in }
    ) async {
        var rest = data
        let printer = Printer(json: true) { end.lines.append($0) }
        let conversation = ChannelConversation(endConditions, printer, reports: reports, clock: world.clock)
        begun(conversation)
        do {
            try await conversation.hold(through: channel) {
                let piece = rest.prefix(5000)
                rest = rest.dropFirst(5000)
                return piece.isEmpty ? nil : Data(piece)
            }
        } catch {
            end.trouble = error as? CommandError
        }
        for line in end.lines {
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let digits = object?["value"] as? String { end.received += (try? Octets.parseDigits(digits)) ?? Data() }
        }
        end.isOver = true
    }

    /// Opens a channel to a server whose channels `serve` is given, sends `data` and leaves; what the opener saw.
    private func visit(
        sending data: Data,
        _ endConditions: ChannelConversation.EndConditions,
        psm: CBL2CAPPSM? = nil,
        begun: @escaping (ChannelConversation) -> Void = { _ in },
        serve: @escaping (CBL2CAPChannel) -> Void
    ) async throws -> End {
        let end = End()
        var server: ChannelServer?
        sensor.inhabit {
            server = ChannelServer(name: "Store") { if case .opened(let channel) = $0 { serve(channel) } }
        }
        let opener = phone.inhabit { Central(clock: world.clock) }
        var isOver = false
        let work = Task {
            defer { isOver = true }
            try await opener.powerOn()
            let peripheral = try await opener.find(PeerReference(text: "Store"), within: .seconds(60))
            try await opener.connect(peripheral, within: .seconds(60))
            let number = if let psm { psm } else { try await opener.psm(of: peripheral) }
            let channel = try await opener.openChannel(number, to: peripheral)
            await talk(channel, data, endConditions, at: end, begun: begun)
            try await opener.disconnect(peripheral)
        }
        for _ in 0..<120 where !isOver { await world.advance(by: .seconds(1)) }
        await world.advance(by: .seconds(20))
        try #require(isOver)
        try await work.value
        server?.close()
        return end
    }

    @Test("An echo server returns what it receives, and reports the amount")
    func echo() async throws {
        let data = Self.octets(70_000)
        var facts: [String] = []
        let echoes = ChannelEchoes(Printer(json: true) { facts.append($0) })
        let end = try await visit(sending: data, .init(count: data.count)) { echoes.add($0) }
        #expect(end.received == data && end.trouble == nil)
        #expect(end.counts == [70_000, 70_000])
        #expect(end.events.first == "opened" && end.events.last == "closed")
        #expect(facts.count == 2)
        #expect(facts.last?.contains(#""received":70000,"sent":70000"#) == true)
    }

    @Test("A server with nothing to send receives everything, and ends with the opener", arguments: [0, 3])
    func listening(answer: Int) async throws {
        let data = Self.octets(100_000), far = End()
        let end = try await visit(sending: data, .init(stays: answer > 0)) { channel in
            Task { await talk(channel, Self.octets(answer), .init(listens: true), at: far) }
        }
        #expect(far.isOver)
        if answer == 0 {
            #expect(far.received == data && far.trouble == nil && end.trouble == nil)
        } else {
            #expect(far.counts.first == answer)
        }
    }

    @Test("Data sent one way arrives completely even if the opener leaves immediately")
    func store() async throws {
        let data = Self.octets(100_000), far = End()
        let end = try await visit(sending: data, .init()) { channel in
            Task { await talk(channel, Data(), .init(stays: true), at: far) }
        }
        #expect(end.counts == [100_000, 0] && end.trouble == nil)
        #expect(far.isOver && far.trouble == nil)
        #expect(far.received == data)
    }

    @Test("Progress in both directions is reported each second if requested", arguments: [false, true])
    func progress(reports: Bool) async throws {
        let data = Self.octets(400_000), far = End()
        _ = try await visit(sending: data, .init()) { channel in
            Task { await talk(channel, Data(), .init(stays: true), at: far, reports: reports) }
        }
        #expect(far.received == data)
        let steps = far.lines.filter { $0.contains(#""event":"progress""#) }
        #expect(steps.isEmpty != reports)
        #expect(steps.allSatisfy { $0.contains(#""received":"#) && $0.contains(#""sent":0"#) })
    }

    @Test("An end whose channel closes early reports how much it has sent", arguments: [false, true])
    func cut(isOwn: Bool) async throws {
        let data = Self.octets(1_000_000)
        var own: ChannelConversation?, far: ChannelPipe?, received = Data()
        let end = try await visit(sending: data, .init(), begun: { own = $0 }) { channel in
            far = ChannelPipe(channel, echoes: false) { event in
                guard case .received(let octets) = event else { return }
                received += octets
                guard received.count > 50_000 else { return }
                if isOwn { own?.interrupt() } else { far?.close() }
            }
        }
        guard case .unsent(let sent, because: nil) = end.trouble else {
            Issue.record("the trouble is \(String(describing: end.trouble))")
            return
        }
        #expect(sent < data.count && received.count < data.count)
        #expect(received == data.prefix(received.count))
    }

    @Test("An end that receives less than expected reports it")
    func tooLittle() async throws {
        let far = End()
        _ = try await visit(sending: Self.octets(10), .init()) { channel in
            Task { await talk(channel, Data(), .init(count: 11), at: far) }
        }
        guard case .endedEarly(10, of: 11) = far.trouble else {
            Issue.record("the trouble is \(String(describing: far.trouble))")
            return
        }
    }

    @Test("An unpublished PSM is refused with a reason")
    func refused() async {
        await #expect {
            _ = try await visit(sending: Data(), .init(), psm: 0x90) { _ in }
        } throws: {
            ($0 as? CommandError)?.description.hasPrefix("Opening a channel to PSM 144 failed: ") == true
        }
    }
}
