import BLEWire
import Testing

@testable import BLEHost

/// A pairing that cannot come to the level that is asked for, which may cost the peer the bond that it has.
@Suite("Pairings that cannot succeed")
struct HopelessPairingTests {
    private let bonded = EncryptionTests()
    private var link: ConnectionHandle { bonded.link }

    /// What this host can show and ask, and whether it may pair so that nobody stands between.
    private static let capabilities: [(capability: SMP.IOCapability?, isPossible: Bool)] = [
        (nil, false), (.noInputNoOutput, false), (.displayOnly, true), (.displayYesNo, true), (.keyboardOnly, true),
        (.keyboardDisplay, true),
    ]

    /// A rig with a link that is encrypted with an unauthenticated bond, over which an app reads a value that needs an
    /// authenticated key.
    private func makeRig(_ role: HCI.Role, _ prepare: (Rig) -> Void = { _ in }) -> Rig {
        let rig = bonded.makeRig(security: .encrypted, role: role)
        rig.peer = { request in
            let code: ATT.ErrorCode
            switch request {
            case .exchangeMTURequest: return .exchangeMTUResponse(.init(serverMTU: 23))
            case .readRequest: code = .insufficientAuthentication
            case .readByTypeRequest, .readByGroupTypeRequest, .findInformationRequest, .findByTypeValueRequest:
                code = .attributeNotFound
            default: return nil
            }
            return .errorResponse(.init(request: request.opcode, handle: AttributeHandle(wire: 3), code: code))
        }
        prepare(rig)
        if role == .peripheral {
            rig.inject(.leLongTermKeyRequest(.init(handle: link, random: 5, diversifier: 6)))
        }
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .on)))
        let peer = rig.events.compactMap { if case .connected(let peer, _) = $0.event { peer } else { nil } }.first
        if let peer { rig.perform(.peer(peer, .read(AttributeHandle(wire: 3)))) }
        return rig
    }

    private func pairings(_ rig: Rig) -> [[UInt8]] {
        rig.frames.filter { $0.channel == .securityManager }.map(\.payload)
    }

    private func readings(_ rig: Rig) -> [Failure] {
        rig.events.compactMap {
            if case .peer(_, .valueRead(_, .failure(let failure)), _) = $0.event { failure } else { nil }
        }
    }

    @Test(
        "A central pairs only if its capabilities can authenticate a key, and otherwise reports the ATT error",
        arguments: capabilities
    )
    func central(capability: SMP.IOCapability?, isPossible: Bool) {
        let rig = makeRig(.central) { rig in
            if let capability { rig.ask(.setAgent(capability)) }
        }
        #expect(pairings(rig).map(\.first) == (isPossible ? [0x01] : []))
        #expect(readings(rig) == (isPossible ? [] : [.att(.insufficientAuthentication)]))
    }

    @Test("A peripheral sends no Security Request that cannot succeed", arguments: capabilities)
    func peripheral(capability: SMP.IOCapability?, isPossible: Bool) {
        let rig = makeRig(.peripheral) { rig in
            if let capability { rig.ask(.setAgent(capability)) }
            if let peer = rig.host.links[link]?.peer { rig.perform(.connect(peer, ConnectRequest())) }
            rig.forget()
            rig.perform(.connect(rig.host.links[link]?.peer ?? PeerIdentifier(rawValue: 0), ConnectRequest()))
        }
        #expect(pairings(rig).contains { $0.first == 0x0B } == isPossible)
        #expect(readings(rig) == (isPossible ? [] : [.att(.insufficientAuthentication)]))
    }

    @Test("Out-of-band data can authenticate the key of a host without display and keyboard")
    func outOfBand() {
        let rig = makeRig(.central) { rig in
            guard let peer = rig.host.links[link]?.peer else { return }
            let told = SecurityManager.OutOfBandData.DeviceData(confirm: Key128(wire: 1), random: Key128(wire: 2))
            rig.ask(.takeOutOfBandData(told, from: peer))
        }
        #expect(pairings(rig).map(\.first) == [0x01])
    }

    @Test("Legacy pairing is refused with a device whose out-of-band data are known")
    func legacyDespiteOutOfBandData() throws {
        let rig = bonded.makeRig(isBonded: false, role: .central)
        let peer = try #require(rig.host.links[link]?.peer)
        let told = SecurityManager.OutOfBandData.DeviceData(confirm: Key128(wire: 1), random: Key128(wire: 2))
        rig.ask(.takeOutOfBandData(told, from: peer))
        rig.ask(.pair(peer))
        #expect(pairings(rig).map(\.first) == [0x01])
        rig.deliver([0x02, 0x03, 0x00, 0x01, 0x10, 0x00, 0x00], on: .securityManager, of: link)
        rig.pump()
        #expect(pairings(rig).dropFirst() == [[0x05, 0x03]])
    }

    @Test("A peer without display and keyboard is asked only once a link for pairing that it cannot provide")
    func peerWithoutMeans() {
        let rig = makeRig(.central) { $0.ask(.setAgent(.displayYesNo)) }
        #expect(pairings(rig).map(\.first) == [0x01])
        var response = SMP.PairingFeatures()
        response.ioCapability = .noInputNoOutput
        response.authentication = [.bonding, .secureConnections]
        response.greatestKeySize = 16
        rig.deliver(SMPPacket.pairingResponse(response).encoded, on: .securityManager, of: link)
        rig.pump()
        #expect(readings(rig) == [.att(.insufficientAuthentication)])
        rig.forget()
        rig.advance(by: .seconds(10))
        if let peer = rig.host.links[link]?.peer { rig.perform(.peer(peer, .read(AttributeHandle(wire: 3)))) }
        #expect(pairings(rig).isEmpty)
        #expect(readings(rig) == [.att(.insufficientAuthentication)])
    }

    /// How a controller says that the peer has no key.
    private static let missingKeys: [HCI.Status] = [.authenticationFailure, .pinOrKeyMissing]

    private func endings(_ rig: Rig) -> [Failure] {
        rig.events.compactMap { entry in
            switch entry.event {
            case .connectFailed(_, let failure): failure
            case .disconnected(_, let failure, _): failure
            default: nil
            }
        }
    }

    @Test(
        "The app learns that the peer removed its bond, whichever code the controller uses for a missing key",
        arguments: missingKeys
    )
    func missingKey(status: HCI.Status) {
        let rig = bonded.makeRig(role: .central)
        rig.inject(.encryptionChange(.init(status: status, handle: link, encryption: .off)))
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        #expect(endings(rig) == [.hci(.pinOrKeyMissing)])
    }

    @Test(
        "The app learns the same if the peer ends the link while the bond's key is being tried",
        arguments: missingKeys
    )
    func endedForMissingKey(status: HCI.Status) {
        let rig = bonded.makeRig(role: .central)
        rig.disconnect(reason: status)
        #expect(endings(rig) == [.hci(.pinOrKeyMissing)])
    }

    @Test("An Authentication Failure at any other time is reported as such")
    func otherFailure() {
        let rig = bonded.makeRig(isBonded: false, role: .central)
        rig.disconnect(reason: .authenticationFailure)
        #expect(endings(rig) == [.hci(.authenticationFailure)])
    }
}
