import BLEWire
import Testing

@testable import BLEHost

@Suite("Encryption with a bond's key")
struct EncryptionTests {
    let address = DeviceAddress(0xC0FF_EE00_0001, .random)
    let link = ConnectionHandle(wire: 0x40) ?? .lowest
    let key = LongTermKey(key: Key128(wire: 0x0102_0304), random: 5, diversifier: 6)

    /// A rig whose host is bonded with the peer, or is not, and linked to it.
    func makeRig(
        isBonded: Bool = true,
        on adapter: DeviceAddress? = nil,
        security: LinkSecurity = .authenticated,
        keySize: Int = 16,
        role: HCI.Role
    ) -> Rig {
        let peer = Rig.ready().discover(address)
        var bond = Bond(identity: address, security: security, keySize: keySize, longTermKey: key)
        bond.adapter = adapter
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

    @Test("A central encrypts the link to a bonded peer immediately", arguments: [true, false])
    func central(isBonded: Bool) {
        let rig = makeRig(isBonded: isBonded, role: .central)
        let commands = rig.commands.compactMap {
            if case .leEnableEncryption(let command) = $0 { command } else { nil }
        }
        let expected = HCI.LEEnableEncryption(handle: link, random: 5, diversifier: 6, key: key.key)
        #expect(commands == (isBonded ? [expected] : []))
    }

    @Test("A bond is valid only on the adapter on which it was made", arguments: [true, false])
    func adapter(isSame: Bool) {
        let adapter = isSame ? FakeController.old.address : DeviceAddress(0xBAD, .public)
        let rig = makeRig(on: adapter, role: .central)
        #expect(rig.commands.contains { $0.opcode == .leEnableEncryption } == isSame)
        let other = makeRig(on: adapter, role: .peripheral)
        other.inject(.leLongTermKeyRequest(.init(handle: link, random: 5, diversifier: 6)))
        #expect(other.commands.contains { $0.opcode == .leLongTermKeyRequestReply } == isSame)
    }

    @Test("A peripheral waits for its central to encrypt")
    func peripheral() {
        let rig = makeRig(role: .peripheral)
        #expect(!rig.commands.map(\.opcode).contains(.leEnableEncryption))
    }

    static let requests: [(isBonded: Bool, random: UInt64, diversifier: UInt16, isKnown: Bool)] = [
        (true, 5, 6, true), (true, 4, 6, false), (true, 5, 7, false), (true, 0, 0, false), (false, 5, 6, false),
    ]

    @Test("The controller receives the key only for the matching random number and diversifier", arguments: requests)
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

    @Test("A request that requires encryption is refused with that error until the link is encrypted")
    func level() {
        let rig = makeRig(role: .peripheral)
        #expect(askForBearer(rig) == .insufficientEncryption)
        rig.inject(.encryptionChange(.init(status: .pinOrKeyMissing, handle: link, encryption: .off)))
        #expect(rig.notes.contains(.encryptionFailed(link, .pinOrKeyMissing)))
        #expect(askForBearer(rig) == .insufficientEncryption)
        rig.inject(.leLongTermKeyRequest(.init(handle: link, random: 5, diversifier: 6)))
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .on)))
        #expect(askForBearer(rig) == .success)
        rig.inject(.encryptionKeyRefreshComplete(.init(status: .success, handle: link)))
        #expect(rig.disconnections.isEmpty)
    }

    /// What a controller may say of a link that nobody may believe.
    static let lies: [HCIEventPacket] = {
        let link = ConnectionHandle(wire: 0x40) ?? .lowest
        return [
            .encryptionChange(.init(status: .success, handle: link, encryption: .on)),
            .encryptionKeyRefreshComplete(.init(status: .success, handle: link)),
        ]
    }()

    @Test("A link reported as encrypted with an unknown key is not trusted, and ends", arguments: lies)
    func noKey(event: HCIEventPacket) {
        let rig = makeRig(role: .peripheral)
        rig.forget()
        rig.inject(event)
        #expect(rig.disconnections == [.authenticationFailure])
    }

    @Test("A link that stops being encrypted ends")
    func noFallback() {
        let rig = makeRig(role: .peripheral)
        rig.inject(.leLongTermKeyRequest(.init(handle: link, random: 5, diversifier: 6)))
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .on)))
        #expect(askForBearer(rig) == .success)
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .off)))
        #expect(rig.disconnections == [.authenticationFailure])
    }

    static let refusals: [HCI.Status] = [.pinOrKeyMissing, .unsupportedRemoteFeature, .linkLayerResponseTimeout]

    @Test("A central sends a bonded peer's address no requests until the link is encrypted")
    func patience() {
        let rig = makeRig(role: .central)
        #expect(rig.frames.isEmpty)
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .on)))
        #expect(!rig.frames.isEmpty)
    }

    @Test(
        "A peer with a bonded peer's address but not its key is disconnected without any request",
        arguments: refusals
    )
    func impostor(status: HCI.Status) {
        let rig = makeRig(role: .central)
        rig.inject(.encryptionChange(.init(status: status, handle: link, encryption: .off)))
        #expect(rig.disconnections == [.authenticationFailure])
        #expect(rig.frames.isEmpty)
        rig.inject(
            .disconnectionComplete(.init(status: .success, handle: link, reason: .connectionTerminatedByLocalHost))
        )
        let failures = rig.events.compactMap { entry -> Failure? in
            if case .connectFailed(_, let failure) = entry.event { failure } else { nil }
        }
        #expect(failures == [.hci(status)])
    }

    @Test("A central with a bonded peer's address but not its key cannot change the stored data")
    func foreignCentral() throws {
        let rig = makeRig(role: .peripheral)
        let attributes = rig.host.layers.attributes.database.attributes
        let handle = try #require(attributes.first { $0.type == GATT.clientConfiguration }?.handle)
        let before = rig.remembered
        rig.deliver(ATTPacket.writeRequest(.init(handle: handle, value: [2, 0])).encoded, on: .attribute, of: link)
        rig.pump()
        #expect(rig.frames.last?.payload == ATTPacket.writeResponse.encoded)
        #expect(rig.remembered == before)
        rig.inject(.leLongTermKeyRequest(.init(handle: link, random: 5, diversifier: 6)))
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .on)))
        #expect(rig.remembered != before)
    }

    /// A rig that a central with the address of a bonded one has connected to, of which an app wants something.
    func makeAskingRig() -> Rig {
        let rig = makeRig(role: .peripheral)
        if let peer = rig.host.links[link]?.peer {
            rig.perform(.connect(peer, ConnectRequest()))
            rig.perform(.peer(peer, .discoverServices(only: [])))
        }
        return rig
    }

    @Test("An app's request to a central with a bonded peer's address first asks for the bond's key")
    func proof() {
        let rig = makeAskingRig()
        let request = SMPPacket.securityRequest(.init([.bonding, .secureConnections, .mitm])).encoded
        #expect(rig.frames.map(\.channel) == [.securityManager] && rig.frames.last?.payload == request)
        rig.forget()
        rig.inject(.leLongTermKeyRequest(.init(handle: link, random: 5, diversifier: 6)))
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .on)))
        #expect(rig.frames.contains { $0.channel == .attribute })
    }

    @Test("A central that does not prove its bond is disconnected when an app makes a request")
    func noProof() {
        let rig = makeAskingRig()
        rig.forget()
        rig.advance(by: .seconds(29))
        #expect(rig.disconnections.isEmpty)
        rig.advance(by: .seconds(2))
        #expect(rig.disconnections == [.authenticationFailure])
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        let failures = rig.events.compactMap { entry -> Failure? in
            if case .disconnected(_, let failure?, _) = entry.event { failure } else { nil }
        }
        #expect(failures == [.encryptionTimedOut])
        #expect(!rig.frames.contains { $0.channel == .attribute })
    }

    static let wishes: [(bond: LinkSecurity, capability: SMP.IOCapability?, pairs: Bool)] = [
        (.encrypted, nil, false), (.encrypted, .noInputNoOutput, false), (.encrypted, .displayOnly, true),
        (.authenticated, .displayOnly, false), (.authenticated, nil, false),
    ]

    @Test(
        "A peripheral's request for more security than the bond leads to new pairing only if that can provide it",
        arguments: wishes
    )
    func wish(bond: LinkSecurity, capability: SMP.IOCapability?, pairs: Bool) {
        let rig = makeRig(security: bond, role: .central)
        if let capability { rig.ask(.setAgent(capability)) }
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .on)))
        let request = SMPPacket.securityRequest(.init([.bonding, .secureConnections, .mitm])).encoded
        rig.deliver(request, on: .securityManager, of: link)
        rig.pump()
        #expect(rig.frames.contains { $0.channel == .securityManager && $0.payload.first == 0x01 } == pairs)
    }

    @Test("Without a bond the link cannot be encrypted")
    func stranger() {
        let rig = makeRig(isBonded: false, role: .peripheral)
        #expect(askForBearer(rig) == .insufficientAuthentication)
    }

    @Test("Events about unknown links are noted")
    func unknown() {
        let rig = makeRig(role: .peripheral), other = ConnectionHandle(wire: 0x77) ?? .lowest
        rig.forget()
        rig.inject(.leLongTermKeyRequest(.init(handle: other, random: 5, diversifier: 6)))
        rig.inject(.encryptionChange(.init(status: .success, handle: other, encryption: .on)))
        #expect(rig.notes == [.unknownLink(other), .unknownLink(other)])
        #expect(rig.commands.isEmpty)
    }
}

extension Rig {
    /// For which reasons links were ended, in order.
    var disconnections: [HCI.Status] {
        commands.compactMap { if case .disconnect(let command) = $0 { command.reason } else { nil } }
    }
}
