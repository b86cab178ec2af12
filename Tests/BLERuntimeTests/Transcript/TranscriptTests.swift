import BLESession
import BLEWire
import Testing

@testable import BLEHost
@testable import BLERuntime

@Suite("Transcript of calls and callbacks")
struct TranscriptTests {
    private static let lamp = PeerIdentifier(rawValue: 0x44BE_FCB7_9354_84A5_B59A_2EC0_0154_2FD0)
    private static let name = "44BEFCB7-9354-84A5-B59A-2EC001542FD0 (Lamp)"
    private static let value = AttributeHandle(wire: 3)

    /// The codes of all cases that can be sent.
    private static func codes<Message: TaggedEnum>(of type: Message.Type) -> Set<UInt8> {
        Set((UInt8.min...UInt8.max).filter { Message(blank: $0) != nil })
    }

    @Test("No request shows a Swift type or a memory address")
    func requests() {
        var generator = PacketGenerator(random: SeededGenerator(seed: 1), payloadLimit: 12)
        var transcript = Transcript(), all: Set<UInt8> = [], peers: Set<UInt8> = [], servers: Set<UInt8> = []
        var channels: Set<UInt8> = [], security: Set<UInt8> = []
        for _ in 0..<6_000 {
            let request: ClientRequest = generator.next()
            all.insert(request.code)
            switch request {
            case .peer(_, let request, _): peers.insert(request.code)
            case .server(let request): servers.insert(request.code)
            case .channel(_, let request): channels.insert(request.code)
            case .security(let request): security.insert(request.code)
            case .scan, .stopScan, .connect, .cancelConnection, .service, .tester, .appPhaseChanged, .showAlerts: break
            }
            expectWords(transcript.line(request, of: 1), for: request)
        }
        #expect(all == Self.codes(of: ClientRequest.self) && peers == Self.codes(of: PeerRequest.self))
        #expect(servers.isSubset(of: Self.codes(of: ServerRequest.self)) && !servers.isEmpty)
        #expect(channels == Self.codes(of: ChannelRequest.self) && security == Self.codes(of: SecurityRequest.self))
        for request in sequence(first: Self.next(after: nil), next: { $0.map { Self.next(after: $0) } }) {
            guard let request else { break }
            expectWords(transcript.line(.tester(request), of: 1), for: request)
        }
    }

    @Test("No event shows a Swift type or a memory address")
    func events() {
        var generator = PacketGenerator(random: SeededGenerator(seed: 2), payloadLimit: 12)
        var transcript = Transcript(), all: Set<UInt8> = [], peers: Set<UInt8> = [], servers: Set<UInt8> = []
        var channels: Set<UInt8> = [], security: Set<UInt8> = [], failures: Set<UInt8> = []
        for _ in 0..<12_000 {
            let event: ClientEvent = generator.next()
            all.insert(event.code)
            switch event {
            case .peer(_, let event, _): peers.insert(event.code)
            case .server(let event): servers.insert(event.code)
            case .channel(_, let event): channels.insert(event.code)
            case .security(let event): security.insert(event.code)
            case .connectFailed(_, let failure): failures.insert(failure.code)
            case .restored, .stateChanged, .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .discovered,
                .connected, .disconnected, .tester, .alert:
                break
            }
            expectWords(transcript.line(event, to: 1), for: event)
        }
        // Advertisements are hardly ever drawn whole: `lines` has them.
        #expect(Self.codes(of: ClientEvent.self).subtracting(all).subtracting([Self.report("Lamp").code]) == [])
        #expect(Self.codes(of: PeerEvent.self).subtracting(peers) == [])
        #expect(servers == Self.codes(of: ServerEvent.self) && channels == Self.codes(of: ChannelEvent.self))
        #expect(security == Self.codes(of: SecurityEvent.self) && failures == Self.codes(of: Failure.self))
        for event in sequence(first: Self.nextEvent(after: nil), next: { $0.map { Self.nextEvent(after: $0) } }) {
            guard let event else { break }
            expectWords(transcript.line(.tester(event), to: 1), for: event)
        }
    }

    /// Expects that a line has words, and nothing that Swift makes of a value by itself.
    private func expectWords(_ line: String, for value: Any) {
        let marks = [
            "unknown context", "rawValue", "wire: ", "Optional(", "BLEHost", "BLEWire", "Swift.", "at $", "\n",
        ]
        for mark in marks where line.contains(mark) { Issue.record("“\(mark)” in: \(line)") }
        #expect(line.firstMatch(of: /0x[0-9a-fA-F]{6}/) == nil, "\(line)")
        var types: Set<String> = []
        Self.collect(value, &types)
        for type in types where line.contains(type + "(") || line.contains(type + ".") {
            Issue.record("\(type) in: \(line)")
        }
        #expect(!line.isEmpty && line.count <= 201)
    }

    /// The names of the types in a value.
    private static func collect(_ value: Any, _ types: inout Set<String>, depth: Int = 0) {
        types.insert(String(describing: type(of: value)))
        guard depth < 8 else { return }
        for child in Mirror(reflecting: value).children { collect(child.value, &types, depth: depth + 1) }
    }

    /// One request of a test suite after another; a new case does not compile without a place here.
    private static func next(after request: TesterRequest?) -> TesterRequest? {
        switch request {
        case nil: .reset
        case .reset: .readLocalAddress
        case .readLocalAddress: .find(DeviceAddress.none)
        case .find: .startSet(AdvertisingSetID(rawValue: 1), AdvertisingSetRequest(AdvertisingParameters()))
        case .startSet: .stopSet(AdvertisingSetID(rawValue: 1))
        case .stopSet: .listen(ScanParameters())
        case .listen: .stopListening
        case .stopListening: .secure(lamp, needsAuthentication: true)
        case .secure: nil
        }
    }

    /// One event for a test suite after another; a new case does not compile without a place here.
    private static func nextEvent(after event: TesterEvent?) -> TesterEvent? {
        guard let link = ConnectionHandle(wire: 1) else { return nil }
        let address = DeviceAddress.none
        return switch event {
        case nil: .localAddress(address)
        case .localAddress: .found(lamp, at: address)
        case .found: .setStarted(AdvertisingSetID(rawValue: 1), .limitReached)
        case .setStarted: .setEnded(AdvertisingSetID(rawValue: 1))
        case .setEnded: .listening(nil)
        case .listening:
            .received(
                ReceivedPacket(
                    address: address,
                    isConnectable: true,
                    isScanResponse: false,
                    rssi: RSSI(dBm: -60),
                    data: [2, 1, 6],
                    packet: AdvertisementPacket()
                )
            )
        case .received:
            .linkMade(RadioLink(handle: link, peer: lamp, address: address, role: .central))
        case .linkMade: .linkEnded(link, .connectionTimeout)
        case .linkEnded: nil
        }
    }

    private static func report(_ name: String?) -> ClientEvent {
        .discovered(
            AdvertisementReport(
                peer: lamp,
                address: .none,
                isConnectable: true,
                rssi: RSSI(dBm: -60),
                octets: AdvertisementOctets(advertisement: [2, 1, 6]),
                name: name
            )
        )
    }

    @Test("Devices are shown with the identifier and name that apps see, and attributes with their UUIDs")
    func lines() throws {
        var transcript = Transcript()
        #expect(transcript.line(.connect(Self.lamp, ConnectRequest()), of: 0) == "connect \(Self.lamp.text)")
        #expect(transcript.line(Self.report("Lamp"), to: 0) == "didDiscover \(Self.name) -60 dBm 020106")
        let wait = ConnectRequest(reconnects: true)
        #expect(transcript.line(.connect(Self.lamp, wait), of: 0) == "connect \(Self.name) with automatic reconnection")
        #expect(transcript.line(.peer(Self.lamp, .read(Self.value)), of: 0) == "readValue \(Self.name) handle 0x0003")
        let found = DiscoveredCharacteristic(
            uuid: .short(0x2A6E),
            properties: 2,
            declaration: AttributeHandle(wire: 2),
            value: Self.value,
            end: Self.value
        )
        let service = try #require(AttributeHandleRange(AttributeHandle(wire: 1), Self.value))
        #expect(
            transcript.line(.peer(Self.lamp, .characteristicsDiscovered(in: service, .success([found]))), to: 0)
                == "didDiscoverCharacteristics \(Self.name) of handle 0x0001 [2A6E]"
        )
        let read = ClientEvent.peer(Self.lamp, .valueRead(Self.value, .success([0x70, 8])))
        #expect(transcript.line(read, to: 0) == "didUpdateValue \(Self.name) 2A6E 7008")
        let refused = ClientEvent.peer(Self.lamp, .valueRead(Self.value, .failure(.att(.readNotPermitted))))
        #expect(transcript.line(refused, to: 0) == "didUpdateValue \(Self.name) 2A6E error: ATT Read Not Permitted")
        let lost = ClientEvent.disconnected(Self.lamp, .hci(.connectionTimeout), isReconnecting: false)
        #expect(transcript.line(lost, to: 0) == "didDisconnect \(Self.name) error: Connection Timeout")
    }

    @Test("A published attribute is shown with its UUID only in the lines of its own app")
    func published() {
        var transcript = Transcript()
        let id = LocalAttributeID(rawValue: 2)
        let level = CharacteristicDefinition(id: id, uuid: .short(0x2A19), properties: .read, permissions: .readable)
        let battery = ServiceDefinition(
            id: LocalAttributeID(rawValue: 1),
            uuid: .short(0x180F),
            characteristics: [level]
        )
        #expect(transcript.line(.service(.addService(battery)), of: 4) == "add 180F [2A19]")
        #expect(transcript.line(.service(.update(id, [99], to: nil)), of: 4) == "updateValue 2A19 63")
        #expect(transcript.line(.service(.update(id, [99], to: nil)), of: 5) == "updateValue attribute 2 63")
    }

    @Test("A peer's name cannot control the terminal, and a long value is shortened")
    func strangers() {
        var transcript = Transcript()
        let line = transcript.line(Self.report("\u{1B}[2J\u{202E}\n" + String(repeating: "x", count: 200)), to: 0)
        #expect(line.contains("(\u{FFFD}[2J\u{FFFD}\u{FFFD}xx") && line.count <= 201)
        let value = [UInt8](repeating: 0xAB, count: 512)
        let write = transcript.line(.peer(PeerIdentifier(rawValue: 1), .write(Self.value, value)), of: 0)
        #expect(write.hasSuffix("abab… (512 octets)"))
    }

    @Test("Passkeys and keys are omitted")
    func secrets() {
        var transcript = Transcript()
        let inquiry = PairingInquiry(peer: Self.lamp, name: nil, question: .display(passkey: 123_456), cause: .request)
        #expect(!transcript.line(.security(.asked(inquiry)), to: 0).contains("123456"))
        #expect(!transcript.line(.security(.answer(Self.lamp, .passkey(123_456))), of: 0).contains("123456"))
        let key = Key128(wire: 0x1234_5678)
        #expect(!transcript.line(.security(.takeTemporaryKey(key, with: Self.lamp)), of: 0).contains("12345678"))
    }
}
