import BLEController
import BLEHost
import BLEWire
import Testing

/// An app whose services come and go; each has one value, which is its number.
private final class Changer: App {
    static let advertised = BluetoothUUID.short(0xFD20)
    private(set) var centrals: [ConnectedCentral] = []

    init() { super.init(ClientID(rawValue: 1), .peripheral) }

    static func add(_ number: UInt16) -> ClientRequest {
        let value = CharacteristicDefinition(
            id: LocalAttributeID(rawValue: UInt32(number) + 0x100),
            uuid: .short(0xB100 + number),
            properties: .read,
            permissions: .readable,
            value: [UInt8(number)]
        )
        let id = LocalAttributeID(rawValue: UInt32(number))
        return .service(.addService(.init(id: id, uuid: .short(0xB000 + number), characteristics: [value])))
    }

    static func remove(_ number: UInt16) -> ClientRequest {
        .service(.removeService(LocalAttributeID(rawValue: UInt32(number))))
    }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn):
            return [
                Self.add(1), Self.add(2), .server(.startAdvertising(AdvertisingRequest(services: [Self.advertised]))),
            ]
        case .server(.centralsConnected(let centrals)):
            self.centrals = centrals
            return []
        default: return []
        }
    }
}

/// An app that reads all values in turn, again and again, and learns anew which there are when it hears of a change.
private final class Reader: App {
    private(set) var peer: PeerIdentifier?
    /// The numbers of the services that it knows of.
    private(set) var services: Set<UInt16> = []
    private(set) var modifications = 0
    private(set) var ends = 0
    /// Values that belonged to another characteristic than was asked for.
    private(set) var strays: [[UInt8]] = []
    private(set) var readings = 0
    /// The number of each value that is known, by its handle.
    private var numbers: [AttributeHandle: UInt16] = [:]

    init(_ number: Int) { super.init(ClientID(rawValue: number), .central) }

    override func react(to event: ClientEvent) -> [ClientRequest] {
        switch event {
        case .stateChanged(.poweredOn): return [.scan(ScanRequest(services: [Changer.advertised]))]
        case .discovered(let report):
            peer = report.peer
            return [.stopScan, .connect(report.peer, ConnectRequest())]
        case .connected(let peer, _): return learn(peer)
        case .disconnected:
            ends += 1
            return []
        case .peer(let peer, let event, _): return react(to: event, of: peer)
        default: return []
        }
    }

    private func learn(_ peer: PeerIdentifier) -> [ClientRequest] {
        numbers = [:]
        return [
            .peer(peer, .discoverServices(only: [])), .peer(peer, .discoverCharacteristics(in: .all, only: [])),
        ]
    }

    /// Reads the value behind `handle`, or the first.
    private func next(after handle: AttributeHandle, _ peer: PeerIdentifier) -> [ClientRequest] {
        let handles = numbers.keys.sorted()
        guard let next = handles.first(where: { handle < $0 }) ?? handles.first else { return [] }
        return [.peer(peer, .read(next))]
    }

    private func react(to event: PeerEvent, of peer: PeerIdentifier) -> [ClientRequest] {
        switch event {
        case .servicesDiscovered(.success(let found)):
            services = Set((1..<0x100).filter { number in found.contains { $0.uuid == .short(0xB000 + number) } })
        case .characteristicsDiscovered(_, .success(let found)):
            for number in UInt16(1)..<0x100 {
                for value in found where value.uuid == .short(0xB100 + number) { numbers[value.value] = number }
            }
            return next(after: .none, peer)
        case .valueRead(let handle, .success(let value)):
            // The answer to what was asked before the last change may come after it.
            guard let number = numbers[handle] else { return [] }
            if value != [UInt8(number)] { strays.append(value) }
            readings += 1
            return next(after: handle, peer)
        case .servicesModified:
            modifications += 1
            return learn(peer)
        default: break
        }
        return []
    }
}

@Suite("Services that are added and removed on a simulated air")
struct ChangingAirTests {
    @Test("Connected clients learn of each change, and never read another service's value", arguments: UInt64(0)..<16)
    func connected(seed: UInt64) {
        let town = Town(seed: seed, loss: 0.1), changer = Changer()
        let serving = town.add(changer)
        let readers = [Reader(2), Reader(3)]
        for reader in readers { _ = town.add(reader, seed % 2 == 0 ? .core5 : .legacyOnly) }
        func settles(on numbers: Set<UInt16>) -> Bool {
            let before = readers.map(\.readings)
            town.run(for: .seconds(20)) { readers.allSatisfy { $0.services == numbers } }
            town.run(for: .seconds(2))
            return readers.allSatisfy { $0.services == numbers } && zip(readers, before).allSatisfy { $0.readings > $1 }
        }
        #expect(settles(on: [1, 2]))
        town.perform(Changer.add(3), at: serving)
        #expect(settles(on: [1, 2, 3]))
        town.perform(Changer.remove(1), at: serving)
        #expect(settles(on: [2, 3]))
        town.perform(Changer.remove(2), at: serving)
        town.perform(Changer.add(4), at: serving)
        #expect(settles(on: [3, 4]))
        for reader in readers {
            #expect(reader.modifications >= 3)
            #expect(reader.strays == [])
            #expect(reader.ends == 0)
        }
    }

    @Test("A bonded client learns when it reconnects what changed while it was away", arguments: UInt64(0)..<16)
    func bonded(seed: UInt64) throws {
        let town = Town(seed: seed, loss: 0.1), changer = Changer(), reader = Reader(2)
        let serving = town.add(changer), reading = town.add(reader)
        town.run(for: .seconds(20)) { reader.services == [1, 2] }
        town.run(for: .seconds(3))
        let peer = try #require(reader.peer), central = try #require(changer.centrals.first?.central.peer)
        try bond(serving, central, town)
        try bond(reading, peer, town)
        town.run(for: .seconds(3))
        #expect(try memory(serving, of: central).isAware)
        town.perform(.cancelConnection(peer), at: reading)
        town.run(for: .seconds(10)) { reader.ends == 1 && changer.centrals.isEmpty }
        town.perform(Changer.remove(1), at: serving)
        town.perform(Changer.add(5), at: serving)
        town.perform(.connect(peer, ConnectRequest()), at: reading)
        town.run(for: .seconds(20)) { reader.services == [2, 5] }
        town.run(for: .seconds(3))
        let kept = try memory(serving, of: central)
        #expect(reader.services == [2, 5])
        #expect(kept.isAware && kept.pendingChange == nil)
        #expect(kept.databaseHash != nil)
        #expect(reader.strays == [])
    }

    @Test("A bonded client that was away receives a change once, and not again on later connections")
    func once() throws {
        let town = Town(seed: 4), changer = Changer(), reader = Reader(2)
        let serving = town.add(changer), reading = town.add(reader)
        town.run(for: .seconds(10)) { reader.services == [1, 2] }
        town.run(for: .seconds(3))
        let peer = try #require(reader.peer), central = try #require(changer.centrals.first?.central.peer)
        try bond(serving, central, town)
        for round in 1...3 {
            town.perform(.cancelConnection(peer), at: reading)
            town.run(for: .seconds(10)) { reader.ends == round && changer.centrals.isEmpty }
            if round == 1 { town.perform(Changer.add(6), at: serving) }
            #expect(try memory(serving, of: central).isAware)
            town.perform(.connect(peer, ConnectRequest()), at: reading)
            // The indication is the first thing that the host sends to a client that comes back to another database.
            town.run(for: .seconds(5))
            #expect(try memory(serving, of: central).pendingChange == nil)
            #expect(reader.services == [1, 2, 6])
        }
    }

    private func bond(_ station: Station, _ peer: PeerIdentifier, _ town: Town) throws {
        let link = station.host.connection(to: peer)
        station.host.bonded(try #require(link), Bond(identity: DeviceAddress(1, .public)), at: town.now)
        town.pump()
    }

    /// What the host of a station keeps of a client.
    private func memory(_ station: Station, of central: PeerIdentifier) throws -> ClientMemory {
        let record = try #require(station.remembered.last { $0.identifier == central })
        return try #require(record.bond).client
    }
}
