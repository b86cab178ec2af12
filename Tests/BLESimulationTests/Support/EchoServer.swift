import BLEHost
import BLERuntime
import BLEWire
import Dispatch

/// A peripheral that sends each value that is written to it back to all that subscribed.
final class EchoServer: SeamApp, @unchecked Sendable {
    static let service = BluetoothUUID.short(0xFFF0)
    static let input = BluetoothUUID.short(0xFFF1)
    static let output = BluetoothUUID.short(0xFFF2)

    private static let inputID = LocalAttributeID(rawValue: 2)
    static let outputID = LocalAttributeID(rawValue: 3)

    /// What was written, in order.
    private(set) var written: [[UInt8]] = []
    private(set) var subscribers: [PeerIdentifier] = []

    init(on link: any HostLink, queue: DispatchQueue = DispatchQueue(label: "server")) {
        super.init(on: queue)
        start(.peripheral, on: link)
    }

    override func react(to event: ClientEvent) {
        switch event {
        case .stateChanged(.poweredOn): publish()
        case .server(.serviceAdded(_, nil)):
            send(.server(.startAdvertising(AdvertisingRequest(localName: "echo", services: [Self.service]))))
        case .server(.writeRequested(let transaction, _, let parts)):
            for part in parts {
                written.append(part.value)
                send(.service(.update(Self.outputID, part.value, to: nil)))
            }
            if let transaction { send(.service(.respond(transaction, .success([])))) }
        case .server(.readRequested(let transaction, _, _, _)):
            send(.service(.respond(transaction, .success([UInt8(truncatingIfNeeded: written.count)]))))
        case .server(.subscribed(let central, _)): subscribers.append(central.peer)
        case .server(.unsubscribed(let central, _)): subscribers.removeAll { $0 == central.peer }
        default: break
        }
    }

    private func publish() {
        send(.service(.removeAllServices))
        let input = CharacteristicDefinition(
            id: Self.inputID,
            uuid: Self.input,
            properties: [.read, .write, .writeWithoutResponse],
            permissions: [.readable, .writeable]
        )
        let output = CharacteristicDefinition(
            id: Self.outputID,
            uuid: Self.output,
            properties: [.notify],
            permissions: []
        )
        send(
            .service(
                .addService(
                    ServiceDefinition(
                        id: LocalAttributeID(rawValue: 1),
                        uuid: Self.service,
                        characteristics: [input, output]
                    )
                )
            )
        )
    }
}
