import BLEHost
import BLEWire
import Testing

@Suite("A full command queue")
struct CrowdedQueueTests {
    private let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    private let link = ConnectionHandle(wire: 0x40) ?? .lowest

    /// A rig with one link to a peer, whose queue holds two commands behind one that is never answered.
    private func makeRig(role: HCI.Role = .central) -> (Rig, PeerIdentifier) {
        var limits = Limits()
        limits.queuedCommands = 2
        let rig = Rig.ready(.new, configuration: .init(identifierSecret: 42, limits: limits))
        let peer = rig.discover(address)
        rig.peer = { request in
            if case .exchangeMTURequest = request { .exchangeMTUResponse(.init(serverMTU: 23)) } else { nil }
        }
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address, role: role)
        rig.controller.silent = [HCI.Opcode.readRSSI.wire]
        for _ in 0..<3 { rig.perform(.peer(peer, .readRSSI)) }
        rig.forget()
        return (rig, peer)
    }

    /// What the client has heard of its requests.
    private func outcomes(_ rig: Rig) -> [PeerEvent] {
        rig.events(of: Rig.central).compactMap { event in
            switch event {
            case .peer(_, let event, _): event
            default: nil
            }
        }
    }

    @Test("Requests that do not fit fail immediately, and queued ones when the link ends")
    func requests() {
        let (rig, peer) = makeRig()
        for _ in 0..<4 { rig.perform(.peer(peer, .readRSSI)) }
        let tuning = LinkTuning.dataLength(octets: 100)
        for _ in 0..<100 { rig.perform(.peer(peer, .tune(tuning))) }
        let refusals = [PeerEvent](repeating: .rssiRead(.failure(.limitReached)), count: 4)
        #expect(outcomes(rig) == refusals + [PeerEvent](repeating: .tuned(tuning, .limitReached), count: 100))
        #expect(rig.notes == [Note](repeating: .limitReached(.queuedCommands), count: 104))
        rig.forget()
        rig.disconnect()
        #expect(outcomes(rig) == [PeerEvent](repeating: .rssiRead(.failure(.notConnected)), count: 3))
    }

    @Test("The queue reserves room for the host's own commands")
    func machines() {
        let (rig, peer) = makeRig()
        rig.perform(.scan(ScanRequest()))
        rig.perform(.server(.startAdvertising(.init(localName: "Nora"))), for: Rig.peripheral)
        rig.perform(.cancelConnection(peer))
        rig.controller.silent = []
        rig.inject(.commandComplete(.init(allowed: 1, opcode: .readRSSI, parameters: [0, 0x40, 0, 0xC4])))
        rig.advance(by: .seconds(1))
        let opcodes = rig.commands.map(\.opcode)
        #expect(opcodes.contains(.leSetExtendedScanEnable))
        #expect(opcodes.contains(.leSetExtendedAdvertisingEnable))
        #expect(opcodes.contains(.disconnect))
    }

    @Test("A peripheral's parameter request is rejected, and the host's own one is sent as an L2CAP signal")
    func parameters() {
        let (central, _) = makeRig()
        let request = Signal.ConnectionParameterUpdateRequest(intervalMin: 6, intervalMax: 6, latency: 0, timeout: 72)
        let packet = SignalPacket(.connectionParameterUpdateRequest(request), identifier: .first)
        central.deliver(packet.encoded, on: .leSignaling, of: link)
        central.pump()
        let response = Signal.ConnectionParameterUpdateResponse(.rejected)
        let answer = SignalPacket(.connectionParameterUpdateResponse(response), identifier: .first)
        #expect(central.frames.last?.payload == answer.encoded)
        let (peripheral, peer) = makeRig(role: .peripheral)
        peripheral.perform(.server(.setLatency(peer, .low)), for: Rig.peripheral)
        #expect(peripheral.frames.last?.channel == .leSignaling)
    }

    @Test("A reply that the controller waits for is sent although the queue is full")
    func replies() {
        let (rig, _) = makeRig()
        rig.inject(
            .leRemoteConnectionParameterRequest(
                .init(
                    handle: link,
                    minimum: .init(wire: 24),
                    maximum: .init(wire: 12),
                    latency: .init(wire: 0),
                    timeout: .init(wire: 200)
                )
            )
        )
        rig.inject(.leLongTermKeyRequest(.init(handle: link, random: 5, diversifier: 6)))
        #expect(rig.notes.isEmpty)
        rig.controller.silent = []
        rig.inject(.commandComplete(.init(allowed: 1, opcode: .readRSSI, parameters: [0, 0x40, 0, 0xC4])))
        let opcodes = rig.commands.map(\.opcode)
        #expect(opcodes.contains(.leRemoteConnectionParameterRequestNegativeReply))
        #expect(opcodes.contains(.leLongTermKeyRequestNegativeReply))
    }

    @Test("Commands about a lost link are dropped, since its handle may belong to another link by then")
    func reuse() {
        let (rig, peer) = makeRig()
        rig.perform(.cancelConnection(peer))
        rig.disconnect()
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(address)
        rig.forget()
        rig.controller.silent = []
        rig.inject(.commandComplete(.init(allowed: 1, opcode: .readRSSI, parameters: [0, 0x40, 0, 0xC4])))
        #expect(!rig.commands.contains { $0.opcode == .disconnect })
    }
}
