import BLEWire
import Testing

@testable import BLEHost

@Suite("Clients whose attributes a peer uses")
struct UsedAttributeTests {
    private static let link = ConnectionHandle(wire: 0x40) ?? .lowest
    private static let client = ClientID(rawValue: 10), other = ClientID(rawValue: 11)

    /// A Read Request, a Read By Type Request and a Read Blob Request for the protected value.
    private static func requests(_ handle: AttributeHandle) -> [[UInt8]] {
        let octets = handle.wire.littleEndianOctets
        return [[0x0A] + octets, [0x08, 0x01, 0x00, 0xFF, 0xFF, 0xCE, 0xAB], [0x0C] + octets + [0, 0]]
    }

    @Test("An attempt to read a protected value counts as use of its client, by any request", arguments: 0..<3)
    func refused(request: Int) throws {
        let rig = Rig.ready()
        for (number, client) in [Self.client, Self.other].enumerated() {
            let owner = ClientOwner(user: 1001 + UInt32(number), process: Int32(number) + 1, isAdministrator: false)
            rig.host.open(client, role: .peripheral, of: owner, at: rig.now)
            var service = ServiceDefinition(id: LocalAttributeID(rawValue: 1), uuid: .short(0xABCD))
            service.characteristics = [
                CharacteristicDefinition(
                    id: LocalAttributeID(rawValue: 2),
                    uuid: .short(number == 0 ? 0xABCE : 0xABCF),
                    properties: .read,
                    permissions: .readEncryptionRequired
                )
            ]
            rig.perform(.service(.addService(service)), for: client)
        }
        rig.connect(DeviceAddress(0xC0FF_EE00_0001, .random), role: .peripheral)
        #expect(rig.host.layers.attributes.servedClients(on: Self.link).isEmpty)
        let attributes = rig.host.layers.attributes.database.attributes
        let handle = try #require(attributes.first { $0.type == .short(0xABCE) }?.handle)
        rig.deliver(Self.requests(handle)[request], on: .attribute, of: Self.link)
        rig.pump()
        #expect(rig.frames.contains { $0.channel == .attribute && $0.payload.first == 0x01 })
        #expect(rig.host.layers.attributes.servedClients(on: Self.link) == [Self.client])
    }
}
