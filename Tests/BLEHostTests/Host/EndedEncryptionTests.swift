import BLEWire
import Testing

@testable import BLEHost

/// Until the controller has ended a link, which the host asked for, the peer can go on to talk.
@Suite("Encryption that ends before the link")
struct EndedEncryptionTests {
    private let bonded = EncryptionTests()
    private var link: ConnectionHandle { bonded.link }
    private static let value = LocalAttributeID(rawValue: 2)

    /// What a controller says of encryption that has ended, or did not go on.
    private static let ends: [HCIEventPacket] = {
        let link = EncryptionTests().link
        return [
            .encryptionChange(.init(status: .success, handle: link, encryption: .off)),
            .encryptionKeyRefreshComplete(.init(status: .pinOrKeyMissing, handle: link)),
        ]
    }()

    /// A rig with an encrypted link, and the handle of a value of its server.
    private func makeRig(
        value: [UInt8]?,
        _ permissions: AttributePermissions,
        _ properties: CharacteristicProperties
    ) throws -> (Rig, AttributeHandle) {
        let rig = bonded.makeRig(role: .peripheral)
        var definition = ServiceDefinition(id: LocalAttributeID(rawValue: 1), uuid: .short(0xABCD))
        definition.characteristics = [
            CharacteristicDefinition(
                id: Self.value,
                uuid: .short(0xABCE),
                properties: properties,
                permissions: permissions,
                value: value
            )
        ]
        rig.perform(.service(.addService(definition)), for: Rig.peripheral)
        rig.inject(.leLongTermKeyRequest(.init(handle: link, random: 5, diversifier: 6)))
        rig.inject(.encryptionChange(.init(status: .success, handle: link, encryption: .on)))
        let attributes = rig.host.layers.attributes.database.attributes
        return (rig, try #require(attributes.first { $0.type == .short(0xABCE) }?.handle))
    }

    @Test("A protected value cannot be read unencrypted", arguments: 0..<2)
    func reading(end: Int) throws {
        let (rig, handle) = try makeRig(value: [1, 2, 3], .readEncryptionRequired, .read)
        let read = ATTPacket.readRequest(.init(handle: handle)).encoded
        var answers: [[UInt8]] = []
        for isEnded in [false, true] {
            if isEnded { rig.inject(Self.ends[end]) }
            rig.forget()
            rig.deliver(read, on: .attribute, of: link)
            rig.pump()
            answers += rig.frames.map(\.payload)
        }
        let refusal = ATT.ErrorResponse(request: .readRequest, handle: handle, code: .insufficientEncryption)
        #expect(answers == [[0x0B, 1, 2, 3], ATTPacket.errorResponse(refusal).encoded])
    }

    @Test("A protected value is not notified unencrypted", arguments: 0..<2)
    func notifying(end: Int) throws {
        let (rig, handle) = try makeRig(value: nil, [], .notifyEncryptionRequired)
        let configuration = AttributeHandle(wire: handle.wire + 1)
        let subscribe = ATTPacket.writeRequest(.init(handle: configuration, value: [1, 0])).encoded
        rig.deliver(subscribe, on: .attribute, of: link)
        rig.pump()
        var counts: [Int] = []
        for isEnded in [false, true] {
            if isEnded { rig.inject(Self.ends[end]) }
            rig.forget()
            rig.perform(.service(.update(Self.value, [9, 9], to: nil)), for: Rig.peripheral)
            counts.append(rig.frames.count)
        }
        #expect(counts == [1, 0])
    }
}
