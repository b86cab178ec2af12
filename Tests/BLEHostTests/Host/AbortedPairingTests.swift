import BLEHost
import BLEWire
import Testing

/// What is kept of a bond while others begin to pair and break it off.
@Suite("Aborted pairings")
struct AbortedPairingTests {
    /// What who shows a passkey is sent, in legacy pairing: a Pairing Request, a confirm value and a failure.
    private static let steps: [[UInt8]] = {
        var request = SMP.PairingFeatures()
        request.ioCapability = .keyboardOnly
        request.authentication = .init([.bonding, .mitm])
        request.greatestKeySize = 16
        let confirm = [0x03] + [UInt8](repeating: 9, count: 16)
        return [SMPPacket.pairingRequest(request).encoded, confirm, [0x05, 0x08]]
    }()

    @Test("Ten thousand aborted pairings, by strangers and with a bonded peer's address, store nothing")
    func store() {
        let encryption = EncryptionTests(), rig = encryption.makeRig(role: .peripheral)
        rig.ask(.setAgent(.displayOnly))
        rig.disconnect()
        let before = rig.remembered
        var begun = 0
        for round in 0..<10_000 {
            let stranger = DeviceAddress(0xC000_0000_0000 + UInt64(round), .random)
            rig.connect(round % 2 == 0 ? encryption.address : stranger, role: .peripheral)
            for packet in Self.steps.prefix(1 + round % 3) {
                rig.deliver(packet, on: .securityManager, of: encryption.link)
                rig.pump()
            }
            begun += rig.frames.contains { $0.channel == .securityManager && $0.payload.first == 0x02 } ? 1 : 0
            rig.disconnect()
            rig.advance(by: .seconds(600))
            rig.forget()
        }
        #expect(begun == 10_000)
        #expect(rig.remembered == before)
        rig.ask(.listBonds)
        let bonds = rig.events.compactMap { if case .security(.bonds(let bonds)) = $0.event { bonds } else { nil } }
        #expect(bonds.last?.map(\.identity) == [encryption.address])
    }
}
