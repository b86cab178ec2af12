import BLECrypto
import BLEWire
import Testing

@testable import BLEHost

@Suite("Out-of-band pairing data")
struct OutOfBandSecretsTests {
    private typealias DeviceData = SecurityManager.OutOfBandData.DeviceData

    private let one = ClientID(rawValue: 1), other = ClientID(rawValue: 2)
    private let lamp = PeerIdentifier(rawValue: 1), lock = PeerIdentifier(rawValue: 2)
    private let told = DeviceData(confirm: Key128(wire: 1), random: Key128(wire: 2))

    @Test("A key for a peer is used for that peer, and a key for any device for all others")
    func keys() {
        var secrets = OutOfBandSecrets(limit: 4)
        secrets.setTemporaryKey(Key128(wire: 7), sharedWith: nil, by: one)
        secrets.setTemporaryKey(Key128(wire: 8), sharedWith: lamp, by: other)
        #expect(secrets.data(for: lamp, allowsLegacy: true).temporaryKey == Key128(wire: 8))
        #expect(secrets.data(for: lock, allowsLegacy: true).temporaryKey == Key128(wire: 7))
        #expect(secrets.data(for: lock, allowsLegacy: false).temporaryKey == nil)
        secrets.setPeerData(told, from: lock, by: one)
        #expect(secrets.data(for: lock, allowsLegacy: true).temporaryKey == nil)
        #expect(secrets.data(for: lock, allowsLegacy: true).remote == told)
        secrets.setPeerData(nil, from: lock, by: other)
        #expect(secrets.data(for: lock, allowsLegacy: true).remote == nil)
    }

    @Test("A client's data is removed with it, and no other")
    func leaving() {
        var generator = SeededGenerator(seed: 1), secrets = OutOfBandSecrets(limit: 4)
        secrets.setLocalData(told, for: P256KeyPair(using: &generator), by: one)
        secrets.setPeerData(told, from: lamp, by: one)
        secrets.setTemporaryKey(Key128(wire: 7), sharedWith: nil, by: one)
        secrets.setTemporaryKey(Key128(wire: 8), sharedWith: lock, by: other)
        secrets.removeData(of: one)
        let lamp = secrets.data(for: lamp, allowsLegacy: true)
        #expect(lamp.local == nil && lamp.remote == nil && lamp.temporaryKey == nil)
        #expect(secrets.data(for: lock, allowsLegacy: true).temporaryKey == Key128(wire: 8))
    }

    @Test("Used data is discarded: the peer's own key, or otherwise the one for any device")
    func used() {
        var secrets = OutOfBandSecrets(limit: 4)
        secrets.setTemporaryKey(Key128(wire: 7), sharedWith: nil, by: one)
        secrets.setTemporaryKey(Key128(wire: 8), sharedWith: lamp, by: one)
        secrets.removeUsed(with: lamp)
        #expect(secrets.data(for: lamp, allowsLegacy: true).temporaryKey == Key128(wire: 7))
        secrets.removeUsed(with: lamp)
        #expect(secrets.data(for: lamp, allowsLegacy: true).temporaryKey == nil)
    }

    @Test("The amount of data is limited, and the oldest is dropped first")
    func limit() {
        var secrets = OutOfBandSecrets(limit: 2)
        for number in UInt128(1)...3 {
            secrets.setTemporaryKey(Key128(wire: number), sharedWith: PeerIdentifier(rawValue: number), by: one)
        }
        let left = (UInt128(1)...3).map {
            secrets.data(for: PeerIdentifier(rawValue: $0), allowsLegacy: true).temporaryKey
        }
        #expect(left == [nil, Key128(wire: 2), Key128(wire: 3)])
    }

    @Test("One app's data does not replace or end another's, and counts only on links of its own app")
    func apps() {
        let mine = ClientOwner(user: 1, process: 1, isAdministrator: false)
        let theirs = ClientOwner(user: 2, process: 2, isAdministrator: false)
        var generator = SeededGenerator(seed: 1), secrets = OutOfBandSecrets(limit: 2)
        secrets.setLocalData(told, for: P256KeyPair(using: &generator), by: one, of: mine)
        secrets.setPeerData(told, from: lamp, by: one, of: mine)
        secrets.setTemporaryKey(Key128(wire: 7), sharedWith: nil, by: one, of: mine)
        let own = P256KeyPair(using: &generator)
        secrets.setLocalData(told, for: own, by: other, of: theirs)
        secrets.setPeerData(nil, from: lamp, by: other, of: theirs)
        for number in UInt128(1)...3 {
            secrets.setTemporaryKey(
                Key128(wire: number),
                sharedWith: PeerIdentifier(rawValue: number),
                by: other,
                of: theirs
            )
        }
        secrets.setTemporaryKey(Key128(wire: 8), sharedWith: nil, by: other, of: theirs)
        let lock = secrets.data(for: lock, allowsLegacy: true) { $1 == mine }
        #expect(lock.temporaryKey == Key128(wire: 7) && lock.local?.data == told)
        secrets.removeUsed(with: lamp) { $1 == theirs }
        #expect(secrets.data(for: lamp, allowsLegacy: true) { $1 == mine }.remote == told)
        #expect(secrets.data(for: lamp, allowsLegacy: true) { $1 == mine }.local != nil)
        #expect(secrets.data(for: lamp, allowsLegacy: true) { $1 == theirs }.local == nil)
    }

    /// The Pairing Response to a request, from a host one of whose clients knows, or knew, a key for any device.
    private func response(to outOfBand: SMP.OutOfBandFlag, isKnown: Bool) -> [UInt8] {
        let bonded = EncryptionTests(), rig = bonded.makeRig(isBonded: false, role: .peripheral)
        rig.host.open(Rig.otherCentral, role: .agent, at: rig.now)
        rig.perform(.security(.setPolicy(PairingPolicy(unattended: .always))), for: Rig.otherCentral)
        rig.ask(.takeTemporaryKey(Key128(wire: 7), with: nil))
        if !isKnown { rig.host.close(Rig.agent, at: rig.now) }
        rig.pump()
        rig.forget()
        var request = SMP.PairingFeatures()
        request.ioCapability = .noInputNoOutput
        request.outOfBand = outOfBand
        request.authentication = [.bonding, .secureConnections]
        request.greatestKeySize = 16
        rig.deliver(SMPPacket.pairingRequest(request).encoded, on: .securityManager, of: bonded.link)
        rig.pump()
        return rig.frames.last { $0.channel == .securityManager }?.payload ?? []
    }

    @Test(
        "A key for any device disables LE Secure Connections for peers that have it, as long as its client exists",
        arguments: [(SMP.OutOfBandFlag.present, true), (.notPresent, true), (.notPresent, false)]
    )
    func secureConnections(outOfBand: SMP.OutOfBandFlag, isKnown: Bool) throws {
        let response = response(to: outOfBand, isKnown: isKnown)
        try #require(response.first == 0x02)
        let flags = SMP.AuthenticationRequirements(rawValue: response[3])
        #expect(flags.contains(.secureConnections) == (outOfBand == .notPresent))
        #expect(response[2] == (outOfBand == .present ? 1 : 0))
    }
}
