import BLEController
import BLEWire
import Testing

@testable import BLEHost

@Suite("Enhanced bearers between two hosts")
struct BearerAirTests {
    /// A server with a value that it gives at once, and others for which it takes its time.
    final class SlowServer: App {
        static let service = BluetoothUUID.short(0x1845)
        private(set) var held: [ServerTransaction] = []

        init() { super.init(ClientID(rawValue: 1), .peripheral) }

        override func react(to event: ClientEvent) -> [ClientRequest] {
            switch event {
            case .stateChanged(.poweredOn):
                let characteristics = (UInt32(2)...5).map { number in
                    CharacteristicDefinition(
                        id: LocalAttributeID(rawValue: number),
                        uuid: .short(0x2A00 | UInt16(number)),
                        properties: .read,
                        permissions: .readable
                    )
                }
                let id = LocalAttributeID(rawValue: 1)
                return [.service(.addService(.init(id: id, uuid: Self.service, characteristics: characteristics)))]
            case .server(.serviceAdded(_, nil)):
                return [.server(.startAdvertising(.init(localName: "Slow", services: [Self.service])))]
            case .server(.readRequested(let transaction, _, let id, _)):
                if id.rawValue == 2 { return [.service(.respond(transaction, .success([2])))] }
                held.append(transaction)
                return []
            default: return []
            }
        }

        /// Gives all values that were asked for.
        func answers() -> [ClientRequest] {
            defer { held = [] }
            return held.map { .service(.respond($0, .success([9]))) }
        }
    }

    /// An app that connects to the server, and finds its values.
    final class Reader: App {
        private(set) var peer: PeerIdentifier?
        private(set) var found: [DiscoveredCharacteristic] = []
        private(set) var services: [DiscoveredService] = []

        init() { super.init(ClientID(rawValue: 2), .central) }

        override func react(to event: ClientEvent) -> [ClientRequest] {
            switch event {
            case .stateChanged(.poweredOn): return [.scan(ScanRequest(services: [SlowServer.service]))]
            case .discovered(let report):
                guard peer == nil else { return [] }
                peer = report.peer
                return [.stopScan, .connect(report.peer, ConnectRequest())]
            case .connected(let peer, _):
                return found.isEmpty ? [.peer(peer, .discoverServices(only: [SlowServer.service]))] : []
            case .peer(let peer, .servicesDiscovered(.success(let services)), _):
                return services.prefix(1).map { .peer(peer, .discoverCharacteristics(in: $0.range, only: [])) }
            case .peer(_, .characteristicsDiscovered(_, .success(let found)), _):
                self.found = found
                return []
            default: return []
            }
        }

        /// The values that were read, by handle, and whether that went well.
        var readings: [(handle: AttributeHandle, isGood: Bool)] {
            events.compactMap { event in
                guard case .peer(_, .valueRead(let handle, let result), _) = event else { return nil }
                return (handle, (try? result.get()) != nil)
            }
        }
    }

    /// Two hosts on a lossy air whose link has just been encrypted.
    final class Bench {
        let town: Town
        let server = SlowServer(), reader = Reader()
        let serverStation: Station, readerStation: Station

        init(seed: UInt64) {
            town = Town(seed: seed, loss: 0.2)
            serverStation = town.add(server)
            readerStation = town.add(reader)
            let (town, reader) = (town, reader)
            town.run(for: .seconds(60)) { reader.found.count == 4 }
        }

        /// Encrypts the link at both ends.
        func encrypt() {
            for station in town.stations {
                for link in station.host.links.handles { station.host.secure(link, .key(.encrypted), at: town.now) }
            }
            town.pump()
        }

        /// How many enhanced bearers the central has.
        var bearers: Int { readerStation.host.layers.attributes.links.first?.client.bearers.enhancedCount ?? 0 }

        func read(_ index: Int, for client: ClientID) {
            guard let peer = reader.peer, index < reader.found.count else { return }
            readerStation.host.perform(.peer(peer, .read(reader.found[index].value)), for: client, at: town.now)
            town.pump()
        }

        func answer() {
            for request in server.answers() { town.perform(request, at: serverStation) }
        }

        /// A second app of the central, connected to the server.
        func join() -> ClientID {
            let client = ClientID(rawValue: 7)
            readerStation.host.open(client, role: .central, at: town.now)
            if let peer = reader.peer {
                readerStation.host.perform(.connect(peer, ConnectRequest()), for: client, at: town.now)
            }
            town.pump()
            return client
        }
    }

    @Test("One app's fast read overtakes another's slow read", arguments: UInt64(0)..<16)
    func passing(seed: UInt64) {
        let bench = Bench(seed: seed)
        bench.encrypt()
        bench.town.run(for: .seconds(60)) { bench.bearers == BearerOpening.count }
        #expect(bench.bearers == BearerOpening.count)
        let other = bench.join()
        bench.read(1, for: bench.reader.client)
        bench.read(0, for: other)
        bench.town.run(for: .seconds(20)) { !bench.reader.readings.isEmpty }
        #expect(bench.reader.readings.map(\.handle) == [bench.reader.found.first?.value].compactMap(\.self))
        bench.answer()
        bench.town.run(for: .seconds(20)) { bench.reader.readings.count == 2 }
        #expect(bench.reader.readings.map(\.isGood) == [true, true])
    }

    @Test("Several reads of one app run at the same time, and are answered in order", arguments: UInt64(0)..<16)
    func order(seed: UInt64) {
        let bench = Bench(seed: seed)
        bench.encrypt()
        bench.town.run(for: .seconds(60)) { bench.bearers == BearerOpening.count }
        for index in [1, 2, 3, 0] { bench.read(index, for: bench.reader.client) }
        bench.town.run(for: .seconds(20)) { bench.server.held.count == 3 }
        #expect(bench.server.held.count == 3)
        bench.answer()
        bench.town.run(for: .seconds(20)) { bench.reader.readings.count == 4 }
        #expect(bench.reader.readings.map(\.handle) == [1, 2, 3, 0].map { bench.reader.found[$0].value })
    }

    @Test("A read on a bearer that is lost is repeated", arguments: UInt64(0)..<16)
    func dying(seed: UInt64) {
        let bench = Bench(seed: seed)
        bench.encrypt()
        bench.town.run(for: .seconds(60)) { bench.bearers == BearerOpening.count }
        for index in [1, 2, 3] { bench.read(index, for: bench.reader.client) }
        bench.town.run(for: .seconds(20)) { bench.server.held.count == 3 }
        let bearer = bench.serverStation.host.layers.attributes.links.first?.server.bearers.first { bearer in
            bearer.exchange.pending != nil && bearer.id != .unenhanced
        }
        guard case .enhanced(let channel)? = bearer?.id else { return #expect(Bool(false)) }
        bench.town.close(channel, at: bench.serverStation)
        bench.town.run(for: .seconds(20)) { bench.bearers == BearerOpening.count - 1 }
        bench.answer()
        bench.town.run(for: .seconds(20)) { bench.server.held.count == 1 }
        bench.answer()
        bench.town.run(for: .seconds(20)) { bench.reader.readings.count == 3 }
        #expect(bench.reader.readings.map(\.isGood) == [true, true, true])
        #expect(bench.reader.readings.map(\.handle) == [1, 2, 3].map { bench.reader.found[$0].value })
        bench.read(0, for: bench.reader.client)
        bench.town.run(for: .seconds(20)) { bench.reader.readings.count == 4 }
        #expect(bench.reader.readings.last?.isGood == true)
    }

    @Test("When both ends open bearers, some are opened, and no more than the limit", arguments: UInt64(0)..<16)
    func collision(seed: UInt64) throws {
        let bench = Bench(seed: seed)
        let link = try #require(bench.serverStation.host.layers.attributes.links.first), central = link.peer
        let client = ClientID(rawValue: 9)
        bench.serverStation.host.open(client, role: .central, at: bench.town.now)
        bench.serverStation.host.perform(.connect(central, ConnectRequest()), for: client, at: bench.town.now)
        bench.encrypt()
        bench.town.run(for: .seconds(30))
        #expect((1...Limits().enhancedBearers).contains(bench.bearers))
        #expect(bench.serverStation.host.layers.attributes.links.first?.client.bearers.enhancedCount == bench.bearers)
    }
}
