import BLEHost
import BLEWire
import Testing

@Suite("Connection parameters")
struct ParameterTests {
    let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    let link = ConnectionHandle(wire: 0x40) ?? .lowest

    /// A rig with one link on which this host has the given role.
    func makeRig(_ controller: FakeController = .old, role: HCI.Role) -> (Rig, PeerIdentifier) {
        let rig = Rig.ready(controller), peer = rig.discover(address)
        rig.peer = { request in
            if case .exchangeMTURequest = request { .exchangeMTUResponse(.init(serverMTU: 23)) } else { nil }
        }
        if role == .central { rig.perform(.connect(peer, ConnectRequest())) }
        rig.connect(address, role: role)
        rig.forget()
        return (rig, peer)
    }

    func updates(_ rig: Rig) -> [HCI.ConnectionParameters] {
        rig.commands.compactMap { if case .leConnectionUpdate(let update) = $0 { update.parameters } else { nil } }
    }

    static let wishes: [(wish: [UInt16], isGranted: Bool)] = [
        ([6, 6, 0, 72], true), ([12, 24, 4, 200], true), ([12, 24, 0, 42], true), ([24, 12, 0, 200], false),
        ([5, 24, 0, 200], false), ([6, 3201, 0, 3200], false), ([12, 24, 500, 3200], false), ([12, 24, 0, 9], false),
        ([800, 800, 1, 400], false), ([0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF], false),
    ]

    @Test("A central accepts permitted parameters by signal, and never a timeout below 720 ms", arguments: wishes)
    func granted(wish: [UInt16], isGranted: Bool) {
        let (rig, _) = makeRig(role: .central)
        let request = Signal.ConnectionParameterUpdateRequest(
            intervalMin: wish[0],
            intervalMax: wish[1],
            latency: wish[2],
            timeout: wish[3]
        )
        rig.deliver(
            SignalPacket(.connectionParameterUpdateRequest(request), identifier: .first).encoded,
            on: .leSignaling,
            of: link
        )
        rig.pump()
        let response = Signal.ConnectionParameterUpdateResponse(isGranted ? .accepted : .rejected)
        #expect(
            rig.frames.last?.payload
                == SignalPacket(.connectionParameterUpdateResponse(response), identifier: .first).encoded
        )
        #expect(updates(rig).count == (isGranted ? 1 : 0))
        for update in updates(rig) { #expect(update.timeout.duration >= .milliseconds(720)) }
    }

    @Test("A parameter request relayed by the controller is answered by the same rules", arguments: wishes)
    func answered(wish: [UInt16], isGranted: Bool) {
        let (rig, _) = makeRig(.new, role: .peripheral)
        rig.inject(
            .leRemoteConnectionParameterRequest(
                .init(
                    handle: link,
                    minimum: .init(wire: wish[0]),
                    maximum: .init(wire: wish[1]),
                    latency: .init(wire: wish[2]),
                    timeout: .init(wire: wish[3])
                )
            )
        )
        let expected: HCI.Opcode =
            isGranted ? .leRemoteConnectionParameterRequestReply : .leRemoteConnectionParameterRequestNegativeReply
        #expect(rig.commands.map(\.opcode) == [expected])
    }

    static let latencies: [ConnectionLatency] = [.low, .medium, .high]

    @Test("A peripheral requests parameters by signal if its controller cannot", arguments: latencies)
    func signalled(latency: ConnectionLatency) throws {
        let (rig, peer) = makeRig(role: .peripheral)
        rig.perform(.server(.setLatency(peer, latency)), for: Rig.peripheral)
        let frame = try #require(rig.frames.last)
        #expect(frame.channel == .leSignaling)
        guard case .connectionParameterUpdateRequest(let request) = try SignalPacket(decoding: frame.payload).signal
        else { return #expect(Bool(false)) }
        #expect(request.isAllowed)
        #expect(rig.commands.isEmpty)
    }

    @Test("A peripheral requests parameters by signal if the controllers do not agree")
    func fallback() {
        let (rig, peer) = makeRig(.new, role: .peripheral)
        rig.perform(.server(.setLatency(peer, .high)), for: Rig.peripheral)
        #expect(updates(rig).count == 1)
        #expect(rig.frames.isEmpty)
        rig.inject(
            .leConnectionUpdateComplete(
                .init(
                    status: .unsupportedRemoteFeature,
                    handle: link,
                    interval: .init(wire: 0),
                    latency: .init(wire: 0),
                    timeout: .init(wire: 0)
                )
            )
        )
        #expect(rig.frames.map(\.channel) == [.leSignaling])
    }

    @Test("An unanswered request times out, and the next one is sent")
    func unanswered() {
        let (rig, peer) = makeRig(role: .peripheral)
        rig.perform(.server(.setLatency(peer, .low)), for: Rig.peripheral)
        rig.perform(.server(.setLatency(peer, .high)), for: Rig.peripheral)
        #expect(rig.frames.count == 1)
        rig.advance(by: .seconds(30))
        #expect(rig.notes == [.signalTimedOut(link)])
        rig.perform(.server(.setLatency(peer, .high)), for: Rig.peripheral)
        #expect(rig.frames.count == 2)
    }
}
