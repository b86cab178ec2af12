import BLEController
import BLEHost
import BLEWire
import Testing

/// An app that takes what is written to it, or notifies a subscriber of many values and then ends the link.
private final class Talker: App {
    static let service = BluetoothUUID.short(0xFD11)
    static let written = BluetoothUUID.short(0xFD12)
    static let notified = BluetoothUUID.short(0xFD13)
    static let count = 60

    private(set) var values: [[UInt8]] = []

    init() { super.init(ClientID(rawValue: 1), .peripheral) }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn):
            let written = CharacteristicDefinition(
                id: LocalAttributeID(rawValue: 2),
                uuid: Self.written,
                properties: .writeWithoutResponse,
                permissions: .writeable
            )
            let notified = CharacteristicDefinition(
                id: LocalAttributeID(rawValue: 3),
                uuid: Self.notified,
                properties: .notify,
                permissions: []
            )
            let service = ServiceDefinition(
                id: LocalAttributeID(rawValue: 1),
                uuid: Self.service,
                characteristics: [written, notified]
            )
            return [
                .service(.addService(service)),
                .server(.startAdvertising(AdvertisingRequest(services: [Self.service]))),
            ]
        case .server(.writeRequested(nil, _, let parts)):
            values += parts.map(\.value)
            return []
        case .server(.subscribed(let central, let id)):
            let updates = (0..<Self.count).map { ClientRequest.service(.update(id, [UInt8($0)], to: nil)) }
            return updates + [.server(.disconnect(central.peer))]
        default: return []
        }
    }
}

/// An app that writes many values and leaves at once, or subscribes and waits for the end.
private final class Guest: App {
    let writes: Bool
    private(set) var values: [[UInt8]] = []
    private(set) var ends: [Failure?] = []

    init(writes: Bool) {
        self.writes = writes
        super.init(ClientID(rawValue: 2), .central)
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn): return [.scan(ScanRequest(services: [Talker.service]))]
        case .discovered(let report): return [.stopScan, .connect(report.peer, ConnectRequest())]
        case .connected(let peer, _):
            let wanted = writes ? Talker.written : Talker.notified
            return [.peer(peer, .discoverCharacteristics(in: .all, only: [wanted]))]
        case .peer(let peer, .characteristicsDiscovered(_, .success(let found)), _): return begin(found, peer)
        case .peer(_, .valueNotified(_, let value), _): values.append(value)
        case .disconnected(_, let failure, _): ends.append(failure)
        default: break
        }
        return []
    }

    private func begin(_ found: [DiscoveredCharacteristic], _ peer: PeerIdentifier) -> [ClientRequest] {
        guard let characteristic = found.first else { return [] }
        guard writes else {
            let range = characteristic.descriptorRange
            return [.peer(peer, .subscribe(.notifications, to: characteristic.value, in: range))]
        }
        let commands = (0..<Talker.count).map {
            ClientRequest.peer(peer, .writeCommand(characteristic.value, [UInt8($0)]))
        }
        return commands + [.cancelConnection(peer)]
    }
}

@Suite("Disconnecting on a simulated air")
struct LeavingAirTests {
    private static let all = (0..<Talker.count).map { [UInt8($0)] }

    @Test(
        "All write commands that a central sent before it disconnects arrive, however lossy the air is",
        arguments: UInt64(0)..<16
    )
    func writes(seed: UInt64) {
        let town = Town(seed: seed, loss: 0.2), talker = Talker(), guest = Guest(writes: true)
        _ = town.add(talker, seed % 2 == 0 ? .core5 : .legacyOnly)
        _ = town.add(guest, seed % 4 < 2 ? .core5 : .legacyOnly)
        town.run(for: .seconds(30)) { !guest.ends.isEmpty }
        #expect(guest.ends == [nil])
        #expect(talker.values == Self.all)
    }

    @Test("All notifications that an app sent before it ends the link arrive", arguments: UInt64(0)..<16)
    func notifications(seed: UInt64) {
        let town = Town(seed: seed, loss: 0.2), talker = Talker(), guest = Guest(writes: false)
        _ = town.add(talker, seed % 2 == 0 ? .core5 : .legacyOnly)
        _ = town.add(guest, seed % 4 < 2 ? .core5 : .legacyOnly)
        town.run(for: .seconds(30)) { !guest.ends.isEmpty }
        #expect(guest.ends == [.hci(.remoteUserTerminatedConnection)])
        #expect(guest.values == Self.all)
    }
}
