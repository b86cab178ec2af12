import BLEHost
import BLEWire

/// A client and a server that meet again and again, with what the client keeps of a bonded peer in between.
struct BondedPair {
    /// What the server has.
    struct Server {
        /// What its Database Hash says; `nil` if it has none.
        var hash: UInt8? = 1
        var changesAreTold = true
        /// Services behind those of the host, with one value each.
        var services: [UInt16] = [0xB000, 0xB001]
        var properties: CharacteristicProperties = [.read, .write]
        /// What each value is described by.
        var descriptor = GATT.userDescription

        static let configuration = AttributeHandle(wire: 4)
        static let serviceChanged = AttributeHandle(wire: 3)
        static let features = AttributeHandle(wire: 6)

        /// Where the value of the service with this place in the list is.
        static func value(of index: Int) -> AttributeHandle { AttributeHandle(wire: UInt16(0x12 + index * 0x10)) }

        var database: GATTDatabase {
            var items: [GATTDatabase.ExactItem] = []
            if changesAreTold {
                items += [
                    item(2, GATT.serviceChanged, .indicate, []),
                    .descriptor(Self.configuration, GATT.clientConfiguration, [.readable, .writeable], [0, 0]),
                    item(5, GATT.clientFeatures, [.read, .write], [0]),
                ]
            }
            if let hash { items.append(item(7, GATT.databaseHash, .read, [UInt8](repeating: hash, count: 16))) }
            var exact = [
                GATTDatabase.ExactService(
                    uuid: GATT.genericAttribute,
                    isPrimary: true,
                    range: range(1, 8),
                    items: items
                )
            ]
            for (index, uuid) in services.enumerated() {
                let start = UInt16(0x10 + index * 0x10)
                exact.append(
                    .init(
                        uuid: .short(uuid),
                        isPrimary: true,
                        range: range(start, start + 3),
                        items: [
                            item(start + 1, .short(uuid + 1), properties, [UInt8(index)]),
                            .descriptor(.init(wire: start + 3), descriptor, .readable, [0x41]),
                        ]
                    )
                )
            }
            return GATTDatabase(exactly: exact) ?? GATTDatabase()
        }

        private func item(
            _ handle: UInt16,
            _ uuid: BluetoothUUID,
            _ properties: CharacteristicProperties,
            _ value: [UInt8]
        ) -> GATTDatabase.ExactItem {
            .characteristic(
                .init(wire: handle),
                uuid,
                properties,
                value: (.init(wire: handle + 1), value),
                [.readable, .writeable]
            )
        }
    }

    var pair = AttributePair()
    /// What the client keeps of the peer; `nil` if they are not bonded.
    var bond: Bond?
    private var linkBegin = 0

    init(isBonded: Bool = true) {
        bond = isBonded ? Bond(identity: DeviceAddress("00:00:00:00:00:07", .public)!) : nil
    }

    /// How many packets of the client have been answered on this link, or wait for an answer.
    var roundTrips: Int { requests.count }

    /// The requests of the client on this link.
    var requests: [[UInt8]] { pair.central.trace[linkBegin...].filter { ATT.Opcode(wire: $0[0]).response != nil } }

    /// Brings a link up to a server that has this.
    mutating func connect(_ server: Server = Server()) {
        linkBegin = pair.central.trace.count
        replace(by: server)
        pair.central.layer.linkUp(
            AttributePair.link,
            peer: AttributePair.peripheralPeer,
            role: .central,
            bond: bond,
            at: pair.now
        )
        pair.settle()
        pair.central.layer.attach(AttributePair.app, to: AttributePair.link)
        keepBond()
    }

    /// Gives the server another database without a word, on the link that there is.
    mutating func replace(by server: Server) {
        pair.peripheral.layer = AttributeLayer(configuration: .init(), database: server.database)
        pair.peripheral.layer.linkUp(
            AttributePair.link,
            peer: AttributePair.centralPeer,
            role: .peripheral,
            at: pair.now
        )
    }

    /// Lets the client do what it does when nobody asks.
    mutating func rest() {
        for _ in 0..<4 { pair.advance(by: .milliseconds(600)) }
        keepBond()
    }

    mutating func disconnect() {
        pair.central.layer.linkDown(AttributePair.link, failure: .notConnected, at: pair.now)
        pair.central.drain(at: pair.now)
        pair.central.sent = []
        keepBond()
    }

    mutating func ask(_ request: AttributeRequest) -> [PeerEvent] {
        let events = pair.ask(request)
        keepBond()
        return events
    }

    /// Has the app go through the whole database, and returns the types of the services.
    @discardableResult
    mutating func walk() -> [BluetoothUUID] {
        guard case .servicesDiscovered(.success(let services))? = ask(.discoverServices(only: [])).last else {
            return []
        }
        for service in services {
            let found = ask(.discoverCharacteristics(in: service.range, only: []))
            guard case .characteristicsDiscovered(_, .success(let characteristics))? = found.last else { return [] }
            for characteristic in characteristics {
                _ = ask(.discoverDescriptors(of: characteristic.value, in: characteristic.descriptorRange))
            }
        }
        return services.map(\.uuid)
    }

    private mutating func keepBond() {
        for output in pair.central.others {
            if case .bondChanged(_, let bond) = output { self.bond = bond }
        }
        pair.central.others = []
    }
}
