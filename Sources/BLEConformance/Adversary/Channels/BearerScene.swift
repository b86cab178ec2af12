import BLEHost
import BLEWire

/// The state of an encrypted link with Enhanced ATT bearers at the start of an attack.
enum BearerScene: String, CaseIterable {
    /// The host is a server. The peer has opened 0x0040 and 0x0041, which it calls 0x0050 and 0x0054.
    case server
    /// The host is a client. It has requested 0x0040, 0x0041 and 0x0042 and has no answer.
    case opening
    /// The same, opened as 0x0060, 0x0061 and 0x0062, with reads in progress on all of them.
    case client

    var role: HCI.Role { self == .server ? .peripheral : .central }

    /// The packets of the adversary.
    var packets: [HostilePacket] {
        switch self {
        case .server: HostilePacket.serverBearerPackets
        case .opening, .client: HostilePacket.clientBearerPackets
        }
    }

    static let held = LocalAttributeID(rawValue: 2)
    static let first = LocalAttributeID(rawValue: 3)
    static let second = LocalAttributeID(rawValue: 4)
    /// The handles of the last two values and their client configurations.
    static let indicated: [(value: UInt8, configuration: UInt8)] = [(20, 21), (23, 24)]

    /// The services of the host after its name at 3: a value at 18 that its app holds, and two values to indicate.
    static var service: ServiceDefinition {
        ServiceDefinition(
            id: .init(rawValue: 1),
            uuid: .short(0x1815),
            characteristics: [
                .init(
                    id: held,
                    uuid: .short(0x3D00),
                    properties: [.read, .write],
                    permissions: [.readable, .writeable]
                ),
                .init(id: first, uuid: .short(0x3D01), properties: .indicate, permissions: []),
                .init(id: second, uuid: .short(0x3D02), properties: .indicate, permissions: []),
            ]
        )
    }
}
