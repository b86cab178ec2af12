import BLEWire
import Testing

@testable import BLEController

@Suite("Encryption procedure of one end")
struct EncryptionMachineTests {
    static let terms = EncryptionTerms(
        longTermKey: Key128(wire: 7),
        request: .init(random: 1, diversifier: 2, keyDiversifier: 3, vector: 4)
    )
    static let response = LL.EncryptionResponse(keyDiversifier: 5, vector: 6)
    static let start = Instant(nanoseconds: 1_000)

    @Test("A peripheral waits up to forty seconds for its central, and indefinitely for its own host")
    func deadlines() {
        var machine = PeripheralEncryption()
        #expect(machine.deadline == nil)
        _ = machine.receive(Self.terms.request, isEncrypted: false)
        machine.generateValues(Self.response)
        #expect(machine.isUnderWay && machine.deadline == nil)
        _ = machine.receive(Key128(wire: 7), at: Self.start)
        #expect(machine.deadline == Self.start + .seconds(40))
        _ = machine.receiveStartResponse()
        #expect(!machine.isUnderWay && machine.deadline == nil)
        _ = machine.receivePauseRequest(isEncrypted: true, at: Self.start)
        #expect(machine.deadline == Self.start + .seconds(40))
        _ = machine.receivePauseResponse(at: Self.start + .seconds(1))
        #expect(machine.deadline == Self.start + .seconds(41))
    }

    @Test("The session key changes with the long-term key and with each end's key diversifier")
    func session() {
        func key(_ key: UInt128, _ own: UInt64, _ other: UInt64) -> Key128 {
            let request = LL.EncryptionRequest(random: 1, diversifier: 2, keyDiversifier: own, vector: 4)
            let response = LL.EncryptionResponse(keyDiversifier: other, vector: 6)
            return EncryptionSession(longTermKey: Key128(wire: key), request, response).key
        }
        #expect(Set([key(7, 3, 5), key(8, 3, 5), key(7, 4, 5), key(7, 3, 6)]).count == 4)
    }

    @Test("A central never continues an encrypted link unencrypted, whenever the peer rejects")
    func exposure() {
        func outcome(_ steps: Int) -> CentralEncryption.OnRejection {
            var machine = CentralEncryption()
            _ = machine.begin(Self.terms, isEncrypted: true)
            if steps > 0 { _ = machine.receivePauseResponse() }
            if steps > 1 { machine.receive(Self.response) }
            if steps > 2 { _ = machine.receiveStartRequest() }
            return machine.receiveRejection()
        }
        #expect((0...3).map(outcome) == [.failed(.refresh), .mustDisconnect, .mustDisconnect, .mustDisconnect])
    }

    @Test("An unexpected packet changes nothing")
    func unexpected() {
        var central = CentralEncryption(), peripheral = PeripheralEncryption()
        guard case .ignore = central.receivePauseResponse(), case .ignore = central.receiveStartRequest(),
            case .ignore = central.receiveStartResponse(), case .ignore = central.receiveRejection(),
            case .ignore = peripheral.receivePauseRequest(isEncrypted: false, at: Self.start),
            case .ignore = peripheral.receivePauseResponse(at: Self.start),
            case .ignore = peripheral.receive(Self.terms.request, isEncrypted: true),
            case .unasked = peripheral.receive(Key128.zero, at: Self.start),
            case .unasked = peripheral.receiveRefusal(), case .ignore = peripheral.receiveStartResponse()
        else {
            Issue.record("an idle machine has done something")
            return
        }
        central.receive(Self.response)
        #expect(!central.isUnderWay && !peripheral.isUnderWay)
    }

    /// A link between two ends that can do everything.
    private func link() -> Link {
        func end(_ handle: UInt16) -> LinkEnd {
            LinkEnd(
                controller: Int(handle),
                handle: ConnectionHandle(wire: handle) ?? .lowest,
                profile: .core5,
                lengths: DataLengths(canExtend: true),
                preference: .init(transmit: 7, receive: 7),
                at: Self.start
            )
        }
        return Link(
            accessAddress: 1,
            selection: .algorithm2,
            timing: .init(interval: 24, latency: 0, timeout: 100),
            channelMap: ChannelMap.all,
            phy: .oneMegabit,
            created: Self.start,
            anchor: Self.start,
            central: end(0),
            peripheral: end(1)
        )
    }

    @Test("No sequence of packets from a peer crashes an end or makes it wait indefinitely", arguments: UInt64(0)..<16)
    func strangers(seed: UInt64) {
        var random = SeededGenerator(seed: seed), link = link()
        for step in 0..<3_000 {
            let role: Role = random.happens(0.5) ? .central : .peripheral, now = Self.start + Int64(step)
            var events: [LinkEvent] = []
            let octets = [UInt8(random.below(0x1A))] + (0..<random.below(24)).map { _ in UInt8(random.below(256)) }
            let own: [LLControlPacket] = [
                .encryptionRequest(Self.terms.request), .encryptionResponse(Self.response), .startEncryptionRequest,
                .startEncryptionResponse, .pauseEncryptionRequest, .pauseEncryptionResponse,
                .reject(reason: 6), .rejectExtended(.init(opcode: .encryptionRequest, reason: 6)), .pingRequest,
            ]
            switch random.below(8) {
            case 0:
                if let packet = try? LLControlPacket(decoding: octets) {
                    link.receive(packet, role, at: now, into: &events)
                }
            case 1:
                if link[.central].control.submit(.encryption(Self.terms)) {
                    link.beginProcedures(.central, at: now, into: &events)
                }
            case 2: _ = link.receiveKey(Key128(wire: 1), at: now)
            case 3: _ = link.receiveKeyRefusal(at: now)
            default: link.receive(own[Int(random.below(Int64(own.count)))], role, at: now, into: &events)
            }
            for case .keyRequested in events { link.sendEncryptionResponse(Self.response) }
            _ = link[role].control.nextPacket(ofEncryption: link[role].encryption.isUnderWay)
            let central = link[.central]
            #expect(
                !central.encryption.central.isUnderWay || central.control.deadline != nil
                    || central.control.termination != nil
            )
        }
    }
}
