import BLEHost
import BLEWire
import Testing

/// What a client may rightly believe, from what it asked for and heard: each answer is due, and comes once.
final class Witness {
    private enum Attachment { case idle, connecting, connected, leaving }

    private var attachments: [PeerIdentifier: Attachment] = [:]
    private var due: [String: Int] = [:]
    private(set) var faults: [String] = []
    private(set) var peers: [PeerIdentifier] = []
    private var heard = 0

    /// A request that a careful app might make now.
    func draw(using random: inout SeededGenerator) -> ClientRequest {
        guard let peer = peers.randomElement(using: &random), Int.random(in: 0..<8, using: &random) > 0 else {
            let allowsDuplicates = Bool.random(using: &random)
            return Bool.random(using: &random) ? .scan(ScanRequest(allowsDuplicates: allowsDuplicates)) : .stopScan
        }
        switch attachments[peer, default: .idle] {
        case .idle:
            attachments[peer] = .connecting
            let delay = Duration.milliseconds(.random(in: 0...50, using: &random))
            return .connect(peer, ConnectRequest(startDelay: delay, reconnects: Bool.random(using: &random)))
        case .leaving: return .stopScan
        case .connecting:
            guard Int.random(in: 0..<4, using: &random) == 0 else { return .scan(ScanRequest()) }
            attachments[peer] = .leaving
            return .cancelConnection(peer)
        case .connected: return use(peer, using: &random)
        }
    }

    private func use(_ peer: PeerIdentifier, using random: inout SeededGenerator) -> ClientRequest {
        let handle = AttributeHandle(wire: .random(in: 1...20, using: &random))
        let value = [UInt8](repeating: 7, count: .random(in: 0...600, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            attachments[peer] = .leaving
            return .cancelConnection(peer)
        case 1: return ask(.readRSSI, of: peer, "rssi")
        case 2: return ask(.discoverServices(only: []), of: peer, "services")
        case 3: return ask(.discoverCharacteristics(in: .all, only: []), of: peer, "characteristics")
        case 4: return ask(.read(handle), of: peer, "read")
        case 5: return ask(.write(handle, value), of: peer, "write")
        case 6: return ask(.writeCommand(handle, Array(value.prefix(20))), of: peer, "command")
        default: return ask(.subscribe(.notifications, to: handle, in: .all), of: peer, "subscribe")
        }
    }

    private func ask(_ request: PeerRequest, of peer: PeerIdentifier, _ kind: String) -> ClientRequest {
        due[kind, default: 0] += 1
        return .peer(peer, request)
    }

    /// Takes what the client heard since the last time.
    func hear(_ events: [ClientEvent]) {
        for event in events.dropFirst(heard) { hear(event) }
        heard = events.count
    }

    private func hear(_ event: ClientEvent) {
        switch event {
        case .discovered(let report): if !peers.contains(report.peer) { peers.append(report.peer) }
        case .connected(let peer, _): move(peer, from: [.connecting], to: .connected)
        case .connectFailed(let peer, _): move(peer, from: [.connecting], to: .idle)
        case .disconnected(let peer, nil, _): move(peer, from: [.leaving], to: .idle)
        case .disconnected(let peer, .some, isReconnecting: true): move(peer, from: [.connected], to: .connecting)
        case .disconnected(let peer, .some, isReconnecting: false): move(peer, from: [.connected], to: .idle)
        case .peer(_, let event, _): answer(event)
        case .restored, .stateChanged, .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .server, .channel,
            .security,
            .alert, .tester:
            break
        }
    }

    private func move(_ peer: PeerIdentifier, from allowed: [Attachment], to next: Attachment) {
        let current = attachments[peer, default: .idle]
        if !allowed.contains(current) { faults.append("\(current) went to \(next)") }
        attachments[peer] = next
    }

    private func answer(_ event: PeerEvent) {
        switch event {
        case .rssiRead: settle("rssi")
        case .servicesDiscovered: settle("services")
        case .characteristicsDiscovered: settle("characteristics")
        case .valueRead: settle("read")
        case .valueWritten: settle("write")
        case .writeCommandsTaken(let count): for _ in 0..<count { settle("command") }
        case .subscriptionChanged: settle("subscribe")
        default: break
        }
    }

    private func settle(_ kind: String) {
        due[kind, default: 0] -= 1
        if due[kind, default: 0] < 0 { faults.append("\(kind) was answered too often") }
    }

    /// What is left when nothing can be under way any more.
    func audit() -> [String] {
        let pending = due.filter { $0.value != 0 }.map { "\($0.value) of \($0.key) unanswered" }
        let attached = attachments.values.filter { $0 != .idle }.map { "still \($0)" }
        return (faults + pending + attached).sorted()
    }
}

@Suite("Invalid data from the controller")
struct RobustnessTests {
    static let addresses = (UInt64(0)..<3).map { DeviceAddress(0xC000_0000_0000 + $0, .random) }

    /// An event that might come, and sometimes one that might not.
    static func event(using random: inout SeededGenerator) -> HCIEventPacket {
        let handle = ConnectionHandle(wire: .random(in: 0x40...0x43, using: &random)) ?? .lowest
        let address = addresses.randomElement(using: &random) ?? .none
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return .disconnectionComplete(.init(status: .success, handle: handle, reason: status(using: &random)))
        case 1, 2, 3:
            return .leConnectionComplete(
                .init(
                    status: Bool.random(using: &random) ? .success : status(using: &random),
                    handle: handle,
                    role: Bool.random(using: &random) ? .central : .peripheral,
                    peer: address,
                    interval: .init(wire: .random(in: .min ... .max, using: &random)),
                    latency: .init(wire: 0),
                    timeout: .init(wire: 100)
                )
            )
        case 4:
            let count = UInt16.random(in: .min ... .max, using: &random)
            return .numberOfCompletedPackets(.init(completed: [.init(handle: handle, count: count)]))
        case 5:
            let opcodes: [HCI.Opcode] = [
                .reset, .readRSSI, .leSetScanEnable, .leCreateConnectionCancel, .leSetAdvertisingData, .none,
            ]
            let opcode = opcodes.randomElement(using: &random) ?? .none
            return .commandComplete(.init(allowed: .random(in: 0...3, using: &random), opcode: opcode, parameters: []))
        case 6: return .commandStatus(.init(status: status(using: &random), opcode: .leCreateConnection))
        case 7:
            return .leReadRemoteFeaturesComplete(
                .init(status: .success, handle: handle, features: .init(rawValue: random.next()))
            )
        case 8:
            return .leRemoteConnectionParameterRequest(
                .init(
                    handle: handle,
                    minimum: .init(wire: .random(in: 0...100, using: &random)),
                    maximum: .init(wire: .random(in: 0...100, using: &random)),
                    latency: .init(wire: .random(in: 0...600, using: &random)),
                    timeout: .init(wire: .random(in: .min ... .max, using: &random))
                )
            )
        case 9: return .unknown(.init(wire: .random(in: .min ... .max, using: &random)), [1, 2, 3])
        default:
            let type = HCI.LEAdvertisingReport.EventType(wire: .random(in: 0...5, using: &random))
            let data: [UInt8] = (0..<8).map { _ in .random(in: 0...9, using: &random) }
            let report = HCI.LEAdvertisingReport.Report(type: type, address: address, data: data, rssi: .unavailable)
            return .leAdvertisingReport(.init(reports: [report]))
        }
    }

    static func status(using random: inout SeededGenerator) -> HCI.Status {
        HCI.Status(wire: .random(in: 1...0x45, using: &random))
    }

    /// Something that a broken controller or a hostile peer sends.
    static func packet(using random: inout SeededGenerator) -> [UInt8] {
        func octets(_ range: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: range, using: &random)).map { _ in .random(in: 0...255, using: &random) }
        }
        var packet = event(using: &random).encoded
        switch Int.random(in: 0..<8, using: &random) {
        case 0: packet = octets(0...20)
        case 1: packet = [4] + octets(0...40)
        case 2: packet.removeLast(.random(in: 0...packet.count, using: &random))
        case 3: packet[.random(in: 0..<packet.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 4:
            let payload = octets(0...30), boundary: UInt8 = Bool.random(using: &random) ? 0x20 : 0x10
            let channel = UInt8.random(in: 3...7, using: &random)
            let frame = [UInt8(payload.count), 0, channel, 0] + payload
            let handle = UInt8.random(in: 0x40...0x43, using: &random)
            packet = [2, handle, boundary, UInt8(frame.count), 0] + frame
        default: break
        }
        return packet
    }

    @Test(
        "No input from a controller crashes the host, and every request is answered once",
        arguments: UInt64(0)..<16,
        [FakeController.old, .new]
    )
    func random(seed: UInt64, controller: FakeController) {
        var random = SeededGenerator(seed: seed)
        let rig = Rig.ready(controller), witness = Witness()
        for address in Self.addresses { _ = rig.discover(address) }
        rig.peer = { request in
            switch request {
            case .exchangeMTURequest: .exchangeMTUResponse(.init(serverMTU: 100))
            // Some requests are never answered, so that their transactions time out.
            case .readRequest: nil
            default: .errorResponse(.init(request: request.opcode, handle: .none, code: .attributeNotFound))
            }
        }
        for _ in 0..<600 {
            witness.hear(rig.events(of: Rig.central))
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1: rig.perform(witness.draw(using: &random))
            case 2:
                rig.host.receive(Self.packet(using: &random).span, at: rig.now)
                rig.pump()
            default:
                let isLong = Int.random(in: 0..<30, using: &random) == 0
                rig.advance(by: .milliseconds(.random(in: 0...(isLong ? 50_000 : 200), using: &random)))
            }
        }
        rig.host.transportClosed(at: rig.now)
        rig.pump()
        witness.hear(rig.events(of: Rig.central))
        #expect(witness.audit().isEmpty)
        #expect(rig.host.deadline == nil)
        #expect(Set(rig.notes.map(\.description)).count > 5)
    }

    @Test(
        "A controller that stops responding after any command is detected, and every request is answered",
        arguments: 0..<3
    )
    func silence(after quiet: Int) {
        let opcodes: [[HCI.Opcode]] = [
            [.leCreateConnection], [.readRSSI, .leReadRemoteFeatures], [.leSetScanEnable, .leCreateConnectionCancel],
        ]
        let address = Self.addresses[0]
        let rig = Rig.ready(), witness = Witness()
        _ = rig.discover(address)
        rig.controller.silent = Set(opcodes[quiet].map(\.wire))
        var random = SeededGenerator(seed: UInt64(quiet))
        witness.hear(rig.events(of: Rig.central))
        for _ in 0..<40 {
            rig.perform(witness.draw(using: &random))
            if rig.commands.last?.opcode == .leCreateConnection { rig.connect(address) }
            witness.hear(rig.events(of: Rig.central))
        }
        rig.controller.isMute = true
        rig.perform(.scan(ScanRequest()))
        rig.perform(.stopScan)
        rig.advance(by: .seconds(10))
        witness.hear(rig.events(of: Rig.central))
        #expect(rig.transportResets == 1)
        #expect(
            rig.events(of: Rig.central).last { if case .stateChanged = $0 { true } else { false } }
                == .stateChanged(.resetting)
        )
        #expect(witness.audit().isEmpty)
    }

    @Test("If the controller never ends a link, the host resets it")
    func endlessLink() {
        let rig = Rig.ready()
        let peer = rig.discover(Self.addresses[0])
        rig.peer = { _ in .exchangeMTUResponse(.init(serverMTU: 100)) }
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(Self.addresses[0])
        rig.perform(.cancelConnection(peer))
        rig.forget()
        rig.advance(by: .seconds(41))
        #expect(rig.events(of: Rig.central).contains(.disconnected(peer, nil, isReconnecting: false)))
        #expect(rig.commands.first == .reset)
        #expect(rig.events(of: Rig.central).last == .stateChanged(.poweredOn))
    }

    @Test("An attempt that the controller never ends times out, and the next one begins")
    func endlessAttempt() {
        let rig = Rig.ready()
        let peer = rig.discover(Self.addresses[0]), other = rig.discover(Self.addresses[1])
        rig.perform(.connect(peer, ConnectRequest()))
        rig.perform(.cancelConnection(peer))
        rig.forget()
        rig.perform(.connect(other, ConnectRequest()))
        rig.advance(by: .milliseconds(1_999))
        #expect(rig.commands.isEmpty)
        rig.advance(by: .milliseconds(1))
        #expect(rig.notes == [.overdue(.leCreateConnectionCancel)])
        #expect(rig.commands.map(\.opcode) == [.leCreateConnection])
    }

    @Test("If the controller cannot encrypt, peers that request pairing are refused once")
    func pairing() {
        let rig = Rig.ready(.plain)
        rig.connect(Self.addresses[0], role: .peripheral)
        rig.forget()
        let link = ConnectionHandle(wire: 0x40) ?? .lowest
        for packet: [UInt8] in [[1, 3, 0, 1, 16, 0, 0], [5, 5], [], [0x0B, 1]] {
            rig.deliver(packet, on: .securityManager, of: link)
            rig.pump()
        }
        #expect(rig.frames.map(\.payload) == [[5, 5], [5, 5]])
        rig.deliver([1, 2, 3], on: ChannelIdentifier(wire: 0x3F), of: link)
        rig.pump()
        #expect(rig.notes == [.unknownChannel(ChannelIdentifier(wire: 0x3F), link)])
    }
}
