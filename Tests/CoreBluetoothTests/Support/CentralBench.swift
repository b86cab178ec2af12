import BLEHost
import BLEWire
import CoreBluetooth

/// A central manager with an app above it and a script below it.
final class CentralBench {
    let link = ScriptedLink()
    let lines = Lines()
    let app = CentralApp()
    let manager: CBCentralManager
    let session: ScriptedSession

    static let peer = PeerIdentifier(rawValue: 1)
    static let other = PeerIdentifier(rawValue: 2)

    init(queue: DispatchQueue? = DispatchQueue(label: "app")) {
        manager = lines.collect(link) { [app] in CBCentralManager(delegate: app, queue: queue) }
        session = link.sessions[0]
    }

    /// Powers the radio on.
    func powerOn() async {
        await session.tell(.stateChanged(.poweredOn))
        _ = app.take()
    }

    /// Scans and finds a peripheral.
    func discover(_ peer: PeerIdentifier = peer, name: String? = nil) async -> CBPeripheral {
        await powerOn()
        manager.scanForPeripherals(withServices: nil)
        await session.tell(.discovered(.of(peer, name: name)))
        _ = (app.take(), session.take())
        return app.peripherals[app.peripherals.count - 1]
    }

    /// Finds a peripheral and connects to it.
    func connect(mtu: Int = 185, options: [String: Any]? = nil) async -> CBPeripheral {
        let peripheral = await discover()
        manager.connect(peripheral, options: options)
        await session.tell(.connected(Self.peer, LinkParameters(mtu: mtu)))
        _ = (app.take(), session.take())
        return peripheral
    }

    /// Says something about the one peripheral.
    func tell(_ event: PeerEvent) async { await session.tell(.peer(Self.peer, event)) }
}

extension AdvertisementReport {
    /// An advertisement without anything in it.
    static func of(
        _ peer: PeerIdentifier,
        name: String? = nil,
        isConnectable: Bool = true,
        rssi: RSSI = RSSI(dBm: -40),
        data: [AdvertisingData.Structure] = []
    ) -> Self {
        Self(
            peer: peer,
            address: DeviceAddress(0xC000_0000_0001, .random),
            isConnectable: isConnectable,
            rssi: rssi,
            octets: AdvertisementOctets(advertisement: AdvertisingData(data).encoded),
            name: name
        )
    }
}

extension AttributeHandleRange {
    /// The handles of a literal range.
    static func of(_ range: ClosedRange<UInt16>) -> Self {
        Self(AttributeHandle(wire: range.lowerBound), AttributeHandle(wire: range.upperBound))!
    }
}

/// A server that tests discover: two services, one of which the other includes.
enum Fixture {
    static let heartRate = DiscoveredService(uuid: .short(0x180D), range: .of(10...19), isPrimary: true)
    static let battery = DiscoveredService(uuid: .short(0x180F), range: .of(20...29), isPrimary: true)
    static let part = DiscoveredService(uuid: .short(0x1812), range: .of(30...39), isPrimary: false)

    /// A characteristic of ``heartRate`` whose value has the handle `value`.
    static func characteristic(
        _ uuid: UInt16,
        _ properties: CBCharacteristicProperties,
        value: UInt16 = 12,
        end: UInt16 = 14
    ) -> DiscoveredCharacteristic {
        DiscoveredCharacteristic(
            uuid: .short(uuid),
            properties: UInt8(properties.rawValue),
            declaration: AttributeHandle(wire: value - 1),
            value: AttributeHandle(wire: value),
            end: AttributeHandle(wire: end)
        )
    }
}

extension CentralBench {
    /// Connects, and discovers one characteristic with the given properties.
    func characteristic(
        _ properties: CBCharacteristicProperties,
        mtu: Int = 185
    ) async -> (CBPeripheral, CBCharacteristic) {
        let peripheral = await connect(mtu: mtu)
        await tell(.servicesDiscovered(.success([Fixture.heartRate])))
        await tell(
            .characteristicsDiscovered(
                in: Fixture.heartRate.range,
                .success([Fixture.characteristic(0x2A37, properties)])
            )
        )
        _ = (app.take(), session.take())
        return (peripheral, peripheral.services![0].characteristics![0])
    }
}
