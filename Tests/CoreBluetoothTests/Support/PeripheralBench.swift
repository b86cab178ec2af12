import BLEHost
import CoreBluetooth

/// A peripheral manager with an app above it and a script below it.
final class PeripheralBench {
    let link = ScriptedLink()
    let lines = Lines()
    let app = PeripheralApp()
    let manager: CBPeripheralManager
    let session: ScriptedSession

    static let central = RemoteCentral(peer: PeerIdentifier(rawValue: 1), mtu: 185)
    static let other = RemoteCentral(peer: PeerIdentifier(rawValue: 2), mtu: 23)

    init() {
        manager = lines.collect(link) { [app] in
            CBPeripheralManager(delegate: app, queue: DispatchQueue(label: "app"))
        }
        session = link.sessions[0]
    }

    /// Powers the radio on.
    func powerOn() async {
        await session.tell(.stateChanged(.poweredOn))
        _ = app.take()
    }

    func tell(_ event: ServerEvent) async { await session.tell(.server(event)) }

    /// What the host was asked about the server since the last call.
    func take() -> [ClientRequest] {
        session.take()
            .filter { request in
                switch request {
                case .server, .service: true
                default: false
                }
            }
    }

    /// Publishes a service with the given characteristics.
    func publish(_ characteristics: CBMutableCharacteristic...) async -> CBMutableService {
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        service.characteristics = characteristics
        await powerOn()
        manager.add(service)
        for case .service(.addService(let definition)) in take() { await tell(.serviceAdded(definition.id, nil)) }
        _ = app.take()
        return service
    }
}

extension CBMutableCharacteristic {
    /// A characteristic that the app answers for.
    static func dynamic(
        _ uuid: String = "2A37",
        _ properties: CBCharacteristicProperties = [.read, .write, .notify]
    ) -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: CBUUID(string: uuid),
            properties: properties,
            value: nil,
            permissions: [.readable, .writeable]
        )
    }
}
