import BLEHost
import BLEWire

/// The state of an encrypted link with Enhanced ATT bearers at the start of an attack.
enum BearerScene: String, CaseIterable {
    /// The host is a server. The peer has opened the bearers 0x0040 and 0x0041; its own identifiers for them are 0x0050
    /// and 0x0054.
    case server
    /// The host is a client. It has requested the bearers 0x0040, 0x0041 and 0x0042, and the peer has not responded.
    case opening
    /// The host is a client. The peer has opened the requested bearers as 0x0060, 0x0061 and 0x0062, and reads are in
    /// progress on all of them.
    case client

    var role: HCI.Role { self == .server ? .peripheral : .central }

    /// The packets that the adversary uses.
    var packets: [HostilePacket] {
        switch self {
        case .server: HostilePacket.serverBearerPackets
        case .opening, .client: HostilePacket.clientBearerPackets
        }
    }

    static let held = LocalAttributeID(rawValue: 2)
    static let first = LocalAttributeID(rawValue: 3)
    static let second = LocalAttributeID(rawValue: 4)
    /// The handles of the two values to indicate, each with the handle of its Client Characteristic Configuration.
    static let indicated: [(value: UInt8, configuration: UInt8)] = [(20, 21), (23, 24)]

    /// A service of the host, in addition to the device name at handle 3.
    ///
    /// It has a value at handle 18 that the app provides, and two values to indicate.
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
