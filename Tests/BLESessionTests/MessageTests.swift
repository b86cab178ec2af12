import BLEHost
import BLESession
import BLEWire
import Testing

@Suite("Messages between apps and the daemon")
struct MessageTests {
    private static let seeds: Range<UInt64> = 0..<16

    @Test("An app's message decodes to what was encoded", arguments: seeds)
    func appMessages(seed: UInt64) throws { try expectRoundTrips(of: AppMessage.self, seed) }

    @Test("The daemon's message decodes to what was encoded", arguments: seeds)
    func daemonMessages(seed: UInt64) throws { try expectRoundTrips(of: DaemonMessage.self, seed) }

    private func expectRoundTrips<Message: TaggedEnum & Packet>(of: Message.Type, _ seed: UInt64) throws {
        var generator = PacketGenerator(random: SeededGenerator(seed: seed), payloadLimit: 12)
        for _ in 0..<400 {
            let message: Message = generator.next()
            let read = try Message(decoding: message.encoded)
            // Texts that are no UTF-8 are repaired once, numbers beyond their range are clamped once.
            #expect(read == (try Message(decoding: read.encoded)), "\(message)")
            #expect(read.encoded == (try Message(decoding: read.encoded)).encoded)
        }
    }

    @Test("Every code belongs to the case that encodes it", arguments: UInt8.min...UInt8.max)
    func codes(code: UInt8) {
        #expect(AppMessage(blank: code).map(\.code) ?? code == code)
        #expect(DaemonMessage(blank: code).map(\.code) ?? code == code)
        #expect(ClientRequest(blank: code).map(\.code) ?? code == code)
        #expect(PeerRequest(blank: code).map(\.code) ?? code == code)
        #expect(ServerRequest(blank: code).map(\.code) ?? code == code)
        #expect(ChannelRequest(blank: code).map(\.code) ?? code == code)
        #expect(SecurityRequest(blank: code).map(\.code) ?? code == code)
        #expect(ClientEvent(blank: code).map(\.code) ?? code == code)
        #expect(PeerEvent(blank: code).map(\.code) ?? code == code)
        #expect(ServerEvent(blank: code).map(\.code) ?? code == code)
        #expect(ChannelEvent(blank: code).map(\.code) ?? code == code)
        #expect(SecurityEvent(blank: code).map(\.code) ?? code == code)
        #expect(Failure(blank: code).map(\.code) ?? code == code)
        #expect(PreservedState(blank: code).map(\.code) ?? code == code)
    }

    @Test("Invalid octets are refused without side effects", arguments: seeds)
    func garbage(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var generator = PacketGenerator(random: SeededGenerator(seed: seed), payloadLimit: 12)
        for _ in 0..<400 {
            let message: AppMessage = generator.next()
            var octets = message.encoded
            for _ in 0..<Int.random(in: 1...3, using: &random) where !octets.isEmpty {
                octets[Int.random(in: octets.indices, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            octets = Array(octets.prefix(Int.random(in: 0...octets.count, using: &random)))
            _ = try? AppMessage(reading: octets.span)
            _ = try? DaemonMessage(reading: octets.span)
            _ = AppMessage.number(ofRequestIn: octets.span)
        }
    }

    @Test("Unknown trailing fields of a newer version are ignored")
    func newer() throws {
        let event = PeerEvent.valueNotified(AttributeHandle(wire: 3), [1])
        let number = RequestNumber(rawValue: 6)
        let message = DaemonMessage.event(.peer(PeerIdentifier(rawValue: 5), event, answering: number))
        let octets = message.encoded + [7, 8, 9]
        #expect(try DaemonMessage(reading: octets.span) == message)
    }

    /// Permissions, and the octet that daemons of an earlier version get.
    private static let sentPermissions: [(AttributePermissions, UInt8)] = [
        ([.readable, .writeEncryptionRequired], 0x09), (.readSecureConnectionsRequired, 0x10),
        (.writeSecureConnectionsRequired, 0x20),
        ([.readSecureConnectionsRequired, .writeSecureConnectionsRequired, .authorizationRequired], 0x70),
    ]

    @Test(
        "Permissions reach the daemon, and an earlier version of it requires authentication",
        arguments: sentPermissions
    )
    func permissions(permissions: AttributePermissions, octet: UInt8) throws {
        let properties: CharacteristicProperties = [.read, .write, .notifySecureConnectionsRequired]
        let definition = CharacteristicDefinition(
            id: LocalAttributeID(rawValue: 1),
            uuid: .short(0xB001),
            properties: properties,
            permissions: permissions
        )
        let octets = definition.encoded
        #expect(try CharacteristicDefinition(decoding: octets) == definition)
        let plain = CharacteristicDefinition(
            id: definition.id,
            uuid: definition.uuid,
            properties: properties,
            permissions: AttributePermissions(rawValue: UInt16(octet))
        )
        let changed = zip(octets, plain.encoded).filter { $0 != $1 }
        #expect(octets.count == plain.encoded.count && changed.allSatisfy { $0 & 0x3F == $1 & 0x3F })
    }

    @Test("Descriptors keep their permissions and values, and earlier daemons publish those without a value as empty")
    func descriptors() throws {
        func definition(_ id: UInt32, _ permissions: AttributePermissions, _ value: [UInt8]?) -> DescriptorDefinition {
            let id = LocalAttributeID(rawValue: id)
            return DescriptorDefinition(id: id, uuid: .short(0xB002), permissions: permissions, value: value)
        }
        var service = ServiceDefinition(id: LocalAttributeID(rawValue: 1), uuid: .short(0xB000))
        service.characteristics = [
            CharacteristicDefinition(
                id: LocalAttributeID(rawValue: 2),
                uuid: .short(0xB001),
                properties: .read,
                permissions: .readable,
                descriptors: [
                    definition(3, .readable, [1]), definition(4, [.readable, .writeable], nil),
                    definition(5, .readSecureConnectionsRequired, [2]), definition(6, .readable, nil),
                ]
            )
        ]
        let request = ClientRequest.service(.addService(service))
        #expect(try ClientRequest(decoding: request.encoded) == request)
        for index in 1...3 {
            service.characteristics[0].descriptors[index].permissions = .readable
            service.characteristics[0].descriptors[index].value = []
        }
        let early = ClientRequest.service(.addService(service)).encoded
        #expect(request.encoded.starts(with: early) && request.encoded.count > early.count)
    }

    @Test("The numbers of lost reports follow the list of apps, and older programs skip them")
    func losses() throws {
        var (lucky, slow) = (SessionInfo(), SessionInfo())
        lucky.program = "lucky"
        slow.program = "slow"
        let plain = DaemonMessage.answer(.apps([lucky, slow])).encoded
        slow.droppedReports = 7
        let message = DaemonMessage.answer(.apps([lucky, slow]))
        #expect(message.encoded.starts(with: plain) && message.encoded.count > plain.count)
        #expect(try DaemonMessage(reading: message.encoded.span) == message)
        for message in [AppMessage.reportsDropped(1 << 40, areOngoing: true), .reportsDropped(0, areOngoing: false)] {
            #expect(try AppMessage(reading: message.encoded.span) == message)
        }
        #expect(try DaemonMessage(reading: DaemonMessage.reportsDropped(9).encoded.span) == .reportsDropped(9))
    }

    @Test("A policy without a setting for unattended pairing keeps the older format")
    func unattended() throws {
        let plain = AppMessage.request(1, .security(.setPolicy(PairingPolicy(keepsBonds: false))))
        for unattended in UnattendedPairing.allCases {
            let policy = PairingPolicy(keepsBonds: false, unattended: unattended)
            let message = AppMessage.request(1, .security(.setPolicy(policy)))
            #expect(message.encoded == plain.encoded + [0, 1, unattended.rawValue])
            #expect(try AppMessage(reading: message.encoded.span) == message)
        }
        #expect(try AppMessage(reading: plain.encoded.span) == plain)
    }

    @Test("What was added to advertisements follows the fields known to older versions")
    func advertisements() throws {
        var plain = BroadcastRequest()
        plain.manufacturerData = [1, 2]
        var bare = plain, raw = plain, rich = plain
        bare.flags = nil
        rich.statedPower = -4
        rich.structures = [.init(.appearance, [0xC1, 3]), .init(ADType(wire: 0x26), [])]
        raw.octets = AdvertisementOctets(advertisement: [0, 1], scanResponse: [2])
        func message(_ broadcast: BroadcastRequest?) -> AppMessage {
            .request(1, .server(.startAdvertising(AdvertisingRequest(localName: "Lamp", broadcast: broadcast))))
        }
        for broadcast in [nil, plain, bare, raw, rich] {
            #expect(try AppMessage(decoding: message(broadcast).encoded) == message(broadcast))
            let request = AdvertisingRequest(broadcast: broadcast), id = LocalAttributeID(rawValue: 1)
            let state = PreservedPeripheral(
                services: [],
                advertisement: request,
                subscribers: [
                    .init(central: RemoteCentral(peer: PeerIdentifier(rawValue: 5), mtu: 23), characteristic: id)
                ]
            )
            let event = DaemonMessage.event(.restored(.peripheral(state)))
            #expect(try DaemonMessage(decoding: event.encoded) == event)
        }
        let older = message(plain).encoded
        for newer in [bare, raw, rich] { #expect(message(newer).encoded.starts(with: older)) }
    }

    @Test("A message without a request number keeps the older format, and is read as one without a number")
    func unnumbered() throws {
        let peer = PeerIdentifier(rawValue: 5), number = RequestNumber(rawValue: 6)
        let plain = AppMessage.request(1, .peer(peer, .readRSSI))
        let numbered = AppMessage.request(1, .peer(peer, .readRSSI, number)).encoded
        #expect(numbered == plain.encoded + [6, 0, 0, 0])
        #expect(try AppMessage(reading: plain.encoded.span) == plain)
        let event = DaemonMessage.event(.peer(peer, .mtuChanged(23)))
        let answer = DaemonMessage.event(.peer(peer, .mtuChanged(23), answering: number))
        #expect(answer.encoded == event.encoded + [6, 0, 0, 0])
    }

    @Test("The number of an unknown request can be read, so that it can be refused")
    func unknownRequest() throws {
        var octets = AppMessage.request(77, .stopScan).encoded
        octets[5] = 250
        #expect(throws: PacketError.reserved(field: "Code")) { try AppMessage(reading: octets.span) }
        #expect(AppMessage.number(ofRequestIn: octets.span) == 77)
        #expect(AppMessage.number(ofRequestIn: AppMessage.close.encoded.span) == nil)
    }

    @Test(
        "Two programs use the newest version that both support",
        arguments: [
            (Versions(oldest: 1, newest: 1), Versions(oldest: 1, newest: 1), 1),
            (Versions(oldest: 1, newest: 3), Versions(oldest: 2, newest: 9), 3),
            (Versions(oldest: 4, newest: 5), Versions(oldest: 1, newest: 3), nil),
            (Versions(oldest: 1, newest: 3), Versions(oldest: 4, newest: 5), nil),
        ] as [(Versions, Versions, UInt16?)]
    )
    func versions(a: Versions, b: Versions, common: UInt16?) {
        #expect(a.common(with: b) == common)
        #expect(b.common(with: a) == common)
    }
}
