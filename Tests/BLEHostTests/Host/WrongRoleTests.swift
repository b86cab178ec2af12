import BLEWire
import Testing

@testable import BLEHost

@Suite("Requests of another role")
struct WrongRoleTests {
    private static let peer = PeerIdentifier(rawValue: 7)
    private static let service = ServiceDefinition(id: LocalAttributeID(rawValue: 1), uuid: .short(0x180D))

    /// What would be on the air, or in the database, if the request were carried out; and what the client hears.
    private static let requests: [(ClientID, ClientRequest, ClientEvent?)] = [
        (Rig.central, .service(.addService(service)), .server(.serviceAdded(service.id, .notSupported))),
        (Rig.central, .server(.startAdvertising(.init())), .server(.advertisingStarted(.notSupported))),
        (
            Rig.central, .server(.publishChannel(encryptionRequired: false)),
            .server(.channelPublished(.none, .notSupported))
        ),
        (Rig.peripheral, .scan(ScanRequest()), nil),
        (Rig.peripheral, .connect(peer, ConnectRequest()), .connectFailed(peer, .notSupported)),
        (
            Rig.peripheral, .peer(peer, .discoverServices(only: [])),
            .peer(peer, .servicesDiscovered(.failure(.notSupported)))
        ),
        (Rig.central, .security(.listBonds), .security(.bonds([]))),
        (Rig.peripheral, .security(.pair(peer)), .security(.failed(peer, .refused(.unspecified)))),
    ]

    @Test("A request of another role has no effect, and fails if it has a result", arguments: requests.indices)
    func refused(index: Int) {
        let (client, request, answer) = Self.requests[index], rig = Rig.ready()
        let hash = rig.host.layers.attributes.databaseHash
        rig.forget()
        rig.perform(request, for: client)
        #expect(rig.commands.isEmpty)
        #expect(rig.host.layers.attributes.databaseHash == hash)
        #expect(rig.events(of: client) == [answer].compactMap(\.self))
        #expect(rig.events.count == (answer == nil ? 0 : 1))
    }
}
