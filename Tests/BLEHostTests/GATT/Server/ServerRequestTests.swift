import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part F, 3.4.
@Suite("Requests to the server")
struct ServerRequestTests {
    /// Services 1 to 9 are the host's, 10 to 18 the sample.
    private func makeLayer(mtu: Int = 23) -> LoneLayer {
        var lone = LoneLayer(role: .peripheral, mtu: mtu)
        _ = lone.perform(.addService(SampleService.definition))
        _ = lone.serverEvents()
        return lone
    }

    @Test(
        "Each request is answered or refused as specified",
        arguments: [
            ("04 0100 0300", "05 01 0100 0028 0200 0328 0300 002a"), ("04 0000 ffff", "01 04 0000 01"),
            ("04 0500 0400", "01 04 0500 01"), ("04 1300 ffff", "01 04 1300 0a"),
            ("06 0100 ffff 0028 0018", "07 0100 0500"), ("06 0000 ffff 0028 0018", "01 06 0000 01"),
            ("06 0100 ffff 0028 0f18", "01 06 0100 0a"), ("06 0100 ffff 012a 0000", "07 0500 0500"),
            ("08 0100 ffff 002a", "09 06 0300 486f7374"), ("08 0000 ffff 002a", "01 08 0000 01"),
            ("08 0200 0100 002a", "01 08 0200 01"), ("08 0100 ffff 092a", "01 08 0100 0a"),
            ("08 0100 ffff 052a", "01 08 0800 02"),
            ("08 0100 ffff 0328", "09 07 0200 02 0300 002a 0400 02 0500 012a 0700 20 0800 052a"),
            ("10 0100 ffff 0028", "11 06 0100 0500 0018 0600 0900 0118"), ("10 0100 ffff 0128", "01 10 0100 0a"),
            ("10 0a00 ffff 0028", "11 14 0a00 1200 ccbbaa99887766554433221100 00e1a0"),
            ("10 0100 ffff 0328", "01 10 0100 10"), ("10 0100 ffff 002a", "01 10 0100 10"),
            ("10 0000 ffff 0028", "01 10 0000 01"), ("10 1300 ffff 0028", "01 10 1300 0a"),
            ("0a 0e00", "0b 010203"), ("0a 0000", "01 0a 0000 01"), ("0a 1300", "01 0a 1300 01"),
            ("0a 0800", "01 0a 0800 02"), ("0a 1200", "0b 0000"),
            ("0c 0e00 0100", "0d 0203"), ("0c 0e00 0300", "0d"), ("0c 0e00 0400", "01 0c 0e00 07"),
            ("0c 1300 0000", "01 0c 1300 01"), ("0c 0800 0000", "01 0c 0800 02"),
            ("0e 0e00 0500", "0f 010203 0000"), ("0e 0e00 1300", "01 0e 1300 01"), ("0e 0e00 0800", "01 0e 0800 02"),
            ("0e 0e00", "01 0e 0000 04"), ("20 0e00 0500", "21 0300 010203 0200 0000"),
            ("20 0e00 1300", "01 20 1300 01"),
            ("12 0e00 01", "01 12 0e00 03"), ("12 1300 01", "01 12 1300 01"), ("12 0b00 01", "01 12 0b00 03"),
            ("12 1200 01", "01 12 1200 0d"), ("12 1200 010000", "01 12 1200 0d"), ("12 1200 0400", "01 12 1200 13"),
            ("12 0900 0100", "01 12 0900 13"), ("12 0900 0200", "13"), ("12 1200 0300", "13"),
            ("16 0e00 0000 01", "01 16 0e00 03"), ("16 1300 0000 01", "01 16 1300 01"),
            ("16 0c00 0700 0102", "17 0c00 0700 0102"), ("18 01", "19"), ("18 00", "19"), ("18 02", "01 18 0000 04"),
            ("02 17", "01 02 0000 04"), ("0a", "01 0a 0000 04"), ("0a 0e00 00", "01 0a 0000 04"),
            ("08 0100 ffff 0028 00", "01 08 0000 04"), ("3f", "01 3f 0000 06"), ("00", "01 00 0000 06"),
            ("14 0102", "01 14 0000 06"), ("02 1700", "03 0502"),
        ]
    )
    func table(request: String, answer: String) {
        var lone = makeLayer()
        #expect(lone.answers(to: [UInt8](request)).map(\.hexadecimal) == [[UInt8](answer).hexadecimal])
    }

    @Test(
        "Commands, unexpected responses and invalid packets are not answered",
        arguments: [
            "", "7f", "52 0e00 01", "52 1300 01", "52", "d2 0c00 01 000000000000000000000000", "d2 00", "13", "1e",
            "1e 00",
            "01 0a 0000 01", "01", "03 1700", "1b 0100", "1b", "23 0100", "0b 00",
        ]
    )
    func unanswered(packet: String) {
        var lone = makeLayer()
        #expect(lone.answers(to: [UInt8](packet)) == [])
        #expect(lone.events.isEmpty)
        #expect(!lone.notes.isEmpty)
        #expect(lone.answers(to: [UInt8]("0a 0e00")).map(\.hexadecimal) == ["0b010203"])
    }

    @Test("A prepared write that is longer than an attribute is refused", arguments: [512, 513])
    func longPart(count: Int) throws {
        var lone = makeLayer(mtu: 517)
        let part = [UInt8](repeating: 7, count: count)
        let answer = try #require(lone.answers(to: [UInt8]("16 0c00 0000") + part).first)
        #expect(answer == (count == 512 ? [UInt8]("17 0c00 0000") + part : [UInt8]("01 16 0c00 0d")))
    }

    @Test("A list holds only entries of the same length that fit", arguments: [23, 24, 64, 517])
    func lists(mtu: Int) throws {
        var lone = makeLayer(mtu: mtu)
        for request in ["04 0100 ffff", "08 0100 ffff 0328", "10 0100 ffff 0028"] {
            let answer = try #require(lone.answers(to: [UInt8](request)).first)
            #expect(answer.count <= mtu)
            _ = try ATTPacket(decoding: answer)
        }
    }

    @Test("A truncated value is the only entry of its list")
    func cutOff() throws {
        let value = [UInt8](repeating: 9, count: 300)
        let definition = ServiceDefinition(
            id: .init(rawValue: 50),
            uuid: .short(0xB000),
            characteristics: (51...52).map {
                .init(
                    id: .init(rawValue: $0),
                    uuid: .short(0xB001),
                    properties: .read,
                    permissions: .readable,
                    value: value
                )
            }
        )
        var lone = LoneLayer(role: .peripheral, mtu: 517)
        _ = lone.perform(.addService(definition))
        let answer = try #require(lone.answers(to: [UInt8]("08 0100 ffff 01b0")).first)
        #expect(answer.count == 2 + 2 + 253)
    }

    @Test(
        "Requests are checked against the permissions of the attribute",
        arguments: [
            (0x01, .unencrypted, 0), (0x00, .authenticated, 0x02), (0x02, .authenticated, 0x02),
            (0x04, .unencrypted, 0x05), (0x04, .encrypted, 0), (0x05, .unencrypted, 0x05),
            (0x10, .unencrypted, 0x05), (0x10, .encrypted, 0x05), (0x10, .authenticated, 0), (0x14, .unencrypted, 0x05),
            (0x41, .authenticated, 0x08), (0x44, .unencrypted, 0x05), (0x21, .unencrypted, 0),
        ] as [(UInt16, LinkSecurity, UInt8)]
    )
    func permissions(bits: UInt16, security: LinkSecurity, refusal: UInt8) {
        let permissions = AttributePermissions(rawValue: bits)
        let definition = ServiceDefinition(
            id: .init(rawValue: 1),
            uuid: .short(0xB000),
            characteristics: [
                .init(
                    id: .init(rawValue: 2),
                    uuid: .short(0xB001),
                    properties: [.read, .write],
                    permissions: permissions
                )
            ]
        )
        var lone = LoneLayer(role: .peripheral)
        _ = lone.perform(.addService(definition))
        _ = lone.serverEvents()
        lone.layer.secure(LoneLayer.link, .key(security))
        let answers = lone.answers(to: [UInt8]("0a 0c00")).map(\.hexadecimal)
        if refusal != 0 {
            #expect(answers == ["010a0c00" + [refusal].hexadecimal])
        } else {
            #expect(answers == [])
            #expect(lone.serverEvents().count == 1)
        }
    }

    @Test(
        "Reads and writes of a descriptor without a value are passed to its client, if its permissions allow them",
        arguments: [
            ([.readable, .writeable], nil, 0, 0), (.readable, nil, 0, 0x03), (.writeable, nil, 0x02, 0),
            ([.readSecureConnectionsRequired, .writeable], .key(.authenticated), 0x05, 0),
            (.readSecureConnectionsRequired, .key(.authenticated, isSecureConnections: true), 0, 0x03),
            ([.readEncryptionRequired, .writeSecureConnectionsRequired], .key(.encrypted), 0, 0x05),
        ] as [(AttributePermissions, PairingStrength?, UInt8, UInt8)]
    )
    func descriptor(permissions: AttributePermissions, key: PairingStrength?, read: UInt8, write: UInt8) {
        let id = LocalAttributeID(rawValue: 3)
        var value = CharacteristicDefinition(
            id: .init(rawValue: 2),
            uuid: .short(0xB001),
            properties: .read,
            permissions: .readable
        )
        value.descriptors = [.init(id: id, uuid: .short(0xB002), permissions: permissions, value: nil)]
        for (request, refusal) in [("0a 0d00", read), ("12 0d00 07", write)] {
            var lone = LoneLayer(role: .peripheral)
            _ = lone.perform(
                .addService(.init(id: .init(rawValue: 1), uuid: .short(0xB000), characteristics: [value]))
            )
            _ = lone.serverEvents()
            lone.layer.secure(LoneLayer.link, key)
            let packet = [UInt8](request)
            let answers = lone.answers(to: packet)
            #expect(answers == (refusal == 0 ? [] : [[1, packet[0], 0x0D, 0, refusal]]))
            let asked: [LocalAttributeID] = lone.serverEvents().compactMap { event in
                switch event {
                case .readRequested(_, _, let id, _): id
                case .writeRequested(_, _, let group): group.first?.attribute
                default: nil
                }
            }
            #expect(asked == (refusal == 0 ? [id] : []))
        }
    }

    /// Keys from the weakest to the only sufficient one, which is authenticated and from LE Secure Connections.
    private static let secureSteps: [PairingStrength?] = [
        .key(.encrypted), .key(.encrypted, isSecureConnections: true), .key(.authenticated),
        .key(.authenticated, isSecureConnections: true),
    ]

    @Test(
        "Subscribing to values that require encryption or authentication requires it",
        arguments: [
            (.notifyEncryptionRequired, [.key(.encrypted)]), (.indicateEncryptionRequired, [.key(.encrypted)]),
            (.notifyAuthenticationRequired, [.key(.encrypted), .key(.authenticated)]),
            (.indicateAuthenticationRequired, [.key(.encrypted, isSecureConnections: true), .key(.authenticated)]),
            (.notifySecureConnectionsRequired, secureSteps), (.indicateSecureConnectionsRequired, secureSteps),
            (CharacteristicProperties([.notify, .indicateSecureConnectionsRequired]), secureSteps),
        ] as [(CharacteristicProperties, [PairingStrength?])]
    )
    func protectedConfiguration(properties: CharacteristicProperties, steps: [PairingStrength?]) {
        let definition = ServiceDefinition(
            id: .init(rawValue: 1),
            uuid: .short(0xB000),
            characteristics: [
                .init(id: .init(rawValue: 2), uuid: .short(0xB001), properties: properties, permissions: [])
            ]
        )
        let write = properties.complete.contains(.notify) ? "12 0d00 0100" : "12 0d00 0200"
        var lone = LoneLayer(role: .peripheral)
        _ = lone.perform(.addService(definition))
        for strength in steps {
            #expect(lone.answers(to: [UInt8](write)).map(\.hexadecimal) == ["01120d0005"])
            lone.layer.secure(LoneLayer.link, strength)
        }
        #expect(lone.answers(to: [UInt8](write)).map(\.hexadecimal) == ["13"])
    }

    @Test("The number of prepared writes is limited")
    func prepareQueue() {
        var limits = Limits()
        limits.preparedParts = 2
        var lone = LoneLayer(role: .peripheral, limits: limits)
        _ = lone.perform(.addService(SampleService.definition))
        for _ in 0..<2 { #expect(lone.answers(to: [UInt8]("16 0c00 0000 01")).count == 1) }
        #expect(lone.answers(to: [UInt8]("16 0c00 0000 01")).map(\.hexadecimal) == ["01160c0009"])
        #expect(lone.answers(to: [UInt8]("18 00")).map(\.hexadecimal) == ["19"])
        #expect(lone.answers(to: [UInt8]("16 0c00 0000 01")).map(\.hexadecimal) == ["170c00000001"])
    }

    @Test("A value longer than 512 octets is refused on execution")
    func tooLong() {
        var lone = LoneLayer(role: .peripheral)
        _ = lone.perform(.addService(SampleService.definition))
        #expect(lone.answers(to: [UInt8]("16 0c00 ff01 0102")).count == 1)
        #expect(lone.answers(to: [UInt8]("18 01")).map(\.hexadecimal) == ["01180c000d"])
        #expect(lone.answers(to: [UInt8]("18 01")).map(\.hexadecimal) == ["19"])
    }
}
