import BLEWire
import Testing

@testable import BLEHost

/// A peer that never answers when the link is to be encrypted.
///
/// Its controller would end the procedure after 40 s. Core 6.0, Vol 6, Part B, 5.2.
@Suite("Encryption that does not complete")
struct EncryptionTimeoutTests {
    private let bonded = EncryptionTests()
    private var link: ConnectionHandle { bonded.link }

    private func makeRig(_ role: HCI.Role) -> Rig {
        let rig = bonded.makeRig(role: role)
        if role == .peripheral {
            rig.inject(.leLongTermKeyRequest(.init(handle: link, random: 5, diversifier: 6)))
        }
        return rig
    }

    @Test("A link that is not encrypted within 5 s ends", arguments: [HCI.Role.central, .peripheral])
    func bond(role: HCI.Role) {
        let rig = makeRig(role)
        rig.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(rig.disconnections.isEmpty)
        rig.advance(by: .nanoseconds(1))
        #expect(rig.disconnections == [.authenticationFailure])
    }

    @Test("The app receives an error that encryption took too long")
    func app() {
        let rig = makeRig(.central)
        rig.advance(by: .seconds(5))
        rig.disconnect(reason: .connectionTerminatedByLocalHost)
        let failures = rig.events.compactMap { entry -> Failure? in
            switch entry.event {
            case .connectFailed(_, let failure): failure
            case .disconnected(_, let failure, _): failure
            default: nil
            }
        }
        #expect(failures == [.encryptionTimedOut])
    }

    @Test("A link that is encrypted in time stays up", arguments: [HCI.Role.central, .peripheral])
    func inTime(role: HCI.Role) {
        let rig = makeRig(role)
        rig.advance(by: .seconds(4))
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .on)))
        rig.advance(by: .seconds(20))
        #expect(rig.disconnections.isEmpty)
    }
}
