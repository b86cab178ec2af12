import BLEHost
import BLEWire
import Testing

@Suite("Encryption with the key of a bond")
struct EncryptionTests {
    let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    let link = ConnectionHandle(wire: 0x40) ?? .lowest
    let key = LongTermKey(key: Key128(wire: 0x0102_0304), random: 5, diversifier: 6)

    /// A rig whose host is bonded with the peer, or is not, and linked to it.
    func makeRig(isBonded: Bool = true, keySize: Int = 16, role: HCI.Role) -> Rig {
        let peer = Rig.ready().discover(address)
        let bond = Bond(identity: address, security: .authenticated, keySize: keySize, longTermKey: key)
        let record = PeerRecord(identifier: peer, address: address, bond: isBonded ? bond : nil)
        let rig = Rig.ready(configuration: .init(identifierSecret: 42, knownPeers: [record]))
        rig.peer = { request in
            if case .exchangeMTURequest = request { .exchangeMTUResponse(.init(serverMTU: 23)) } else { nil }
        }
        rig.forget()
        if role == .central { rig.perform(.connect(peer, ConnectRequest())) }
        rig.connect(address, role: role)
        return rig
    }

    /// What the peer is answered that asks for an enhanced bearer.
    func askForBearer(_ rig: Rig) -> Signal.ConnectionResult? {
        let source = ChannelIdentifier(wire: 0x40)
        let request = Signal.CreditBasedConnectionRequest(
            spsm: .enhancedATT,
            mtu: 64,
            mps: 64,
            credits: 9,
            sources: [source]
        )
        let packet = SignalPacket(.creditBasedConnectionRequest(request), identifier: .first)
        rig.deliver(packet.encoded, on: .leSignaling, of: link)
        rig.pump()
        guard let payload = rig.frames.last(where: { $0.channel == .leSignaling })?.payload,
            case .creditBasedConnectionResponse(let response)? = (try? SignalPacket(decoding: payload))?.signal
        else { return nil }
        return response.result
    }

    @Test("A central encrypts the link to a bonded peer at once", arguments: [true, false])
    func central(isBonded: Bool) {
        let rig = makeRig(isBonded: isBonded, role: .central)
        let commands = rig.commands.compactMap {
            if case .leEnableEncryption(let command) = $0 { command } else { nil }
        }
        let expected = HCI.LEEnableEncryption(handle: link, random: 5, diversifier: 6, key: key.key)
        #expect(commands == (isBonded ? [expected] : []))
    }

    @Test("A peripheral waits for its central to encrypt")
    func peripheral() {
        let rig = makeRig(role: .peripheral)
        #expect(!rig.commands.map(\.opcode).contains(.leEnableEncryption))
    }

    static let requests: [(isBonded: Bool, random: UInt64, diversifier: UInt16, isKnown: Bool)] = [
        (true, 5, 6, true), (true, 4, 6, false), (true, 5, 7, false), (true, 0, 0, false), (false, 5, 6, false),
    ]

    @Test("The key is given to the controller when it is named rightly", arguments: requests)
    func requested(isBonded: Bool, random: UInt64, diversifier: UInt16, isKnown: Bool) {
        let rig = makeRig(isBonded: isBonded, role: .peripheral)
        rig.forget()
        rig.inject(.leLongTermKeyRequest(.init(handle: link, random: random, diversifier: diversifier)))
        let replies = rig.commands.compactMap {
            if case .leLongTermKeyRequestReply(let command) = $0 { command } else { nil }
        }
        #expect(replies == (isKnown ? [.init(handle: link, key: key.key)] : []))
        #expect(rig.commands.map(\.opcode).contains(.leLongTermKeyRequestNegativeReply) == !isKnown)
    }

    @Test("What needs encryption is refused by its name until there is some, and again when it ends")
    func level() {
        let rig = makeRig(role: .peripheral)
        #expect(askForBearer(rig) == .insufficientEncryption)
        rig.inject(.encryptionChange(.init(status: .pinOrKeyMissing, handle: link, encryption: .off)))
        #expect(rig.notes.contains(.encryptionFailed(link, .pinOrKeyMissing)))
        #expect(askForBearer(rig) == .insufficientEncryption)
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .on)))
        #expect(askForBearer(rig) == .success)
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .off)))
        #expect(askForBearer(rig) == .insufficientEncryption)
        rig.inject(.encryptionKeyRefreshComplete(.init(status: .success, handle: link)))
        #expect(askForBearer(rig) != .insufficientEncryption)
    }

    @Test("Without a bond there is nothing to encrypt with")
    func stranger() {
        let rig = makeRig(isBonded: false, role: .peripheral)
        #expect(askForBearer(rig) == .insufficientAuthentication)
    }

    @Test("Events about links that there are not are noted")
    func unknown() {
        let rig = makeRig(role: .peripheral), other = ConnectionHandle(wire: 0x77) ?? .lowest
        rig.forget()
        rig.inject(.leLongTermKeyRequest(.init(handle: other, random: 5, diversifier: 6)))
        rig.inject(.encryptionChange(.init(status: .success, handle: other, encryption: .on)))
        #expect(rig.notes == [.unknownLink(other), .unknownLink(other)])
        #expect(rig.commands.isEmpty)
    }
}
