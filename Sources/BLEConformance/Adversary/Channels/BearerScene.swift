import BLEHost
import BLEWire

/// What an adversary finds on an encrypted link whose ends offer Enhanced ATT bearers.
enum BearerScene: String, CaseIterable {
    /// The host is a server, on which the peer has opened 0x0040 and 0x0041, which it names 0x0050 and 0x0054.
    case server
    /// The host is a client that has asked for 0x0040, 0x0041 and 0x0042, and has no answer.
    case opening
    /// The same, opened as 0x0060, 0x0061 and 0x0062; values are being read on all of them.
    case client

    var role: HCI.Role { self == .server ? .peripheral : .central }

    /// What the adversary sends.
    var packets: [HostilePacket] {
        switch self {
        case .server: HostilePacket.serverBearerPackets
        case .opening, .client: HostilePacket.clientBearerPackets
        }
    }

    static let held = LocalAttributeID(rawValue: 2)
    static let first = LocalAttributeID(rawValue: 3)
    static let second = LocalAttributeID(rawValue: 4)
    /// Where the values of the last two and their configurations are.
    static let indicated: [(value: UInt8, configuration: UInt8)] = [(20, 21), (23, 24)]

    /// What the host serves behind its name at 3: a value at 18 that its app holds, and two to be indicated.
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
