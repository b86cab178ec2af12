import BLEWire
import Testing

/// A signalling packet as octets, as a value, and as the names of its fields after the header.
struct SignalVector: Sendable, CustomTestStringConvertible {
    let octets: [UInt8]
    let signal: Signal
    let fields: [String]

    init(_ hex: String, _ signal: Signal, _ fields: [String]) {
        octets = [UInt8](hex: hex)
        self.signal = signal
        self.fields = ["Code", "Identifier", "Data Length"] + fields
    }

    var testDescription: String { signal.code.description }
}

extension SignalVector {
    private static let left = ChannelIdentifier(wire: 0x0040)
    private static let right = ChannelIdentifier(wire: 0x0041)

    /// Every packet of the LE signalling channel, Core 6.0, Vol 3, Part A, 4, with the identifier 7.
    static let all = link + channel + channels

    private static let link = [
        SignalVector("01 07 0200 0000", .commandReject(.notUnderstood), ["Reason", "Reason Data"]),
        SignalVector("01 07 0400 0100 1700", .commandReject(.mtuExceeded(mtu: 23)), ["Reason", "Reason Data"]),
        SignalVector(
            "01 07 0600 0200 4000 4100",
            .commandReject(.invalidChannel(local: left, remote: right)),
            ["Reason", "Reason Data"]
        ),
        SignalVector(
            "12 07 0800 1800 2800 0400 F401",
            .connectionParameterUpdateRequest(.init(intervalMin: 24, intervalMax: 40, latency: 4, timeout: 500)),
            ["Interval Min", "Interval Max", "Latency", "Timeout"]
        ),
        SignalVector("13 07 0200 0000", .connectionParameterUpdateResponse(.init(.accepted)), ["Result"]),
        SignalVector("13 07 0200 0100", .connectionParameterUpdateResponse(.init(.rejected)), ["Result"]),
        SignalVector("02 07 0300 010203", .unknown(code: .init(wire: 0x02), data: [1, 2, 3]), ["Data"]),
    ]

    private static let channel = [
        SignalVector(
            "06 07 0400 4100 4000",
            .disconnectionRequest(.init(destination: right, source: left)),
            ["Destination CID", "Source CID"]
        ),
        SignalVector(
            "07 07 0400 4100 4000",
            .disconnectionResponse(.init(destination: right, source: left)),
            ["Destination CID", "Source CID"]
        ),
        SignalVector(
            "14 07 0A00 8000 4000 0002 F700 0A00",
            .leCreditBasedConnectionRequest(
                .init(spsm: SPSM(wire: 0x80), source: left, mtu: 512, mps: 247, credits: 10)
            ),
            ["SPSM", "Source CID", "MTU", "MPS", "Initial Credits"]
        ),
        SignalVector(
            "15 07 0A00 4100 0002 F700 0A00 0000",
            .leCreditBasedConnectionResponse(.init(destination: right, mtu: 512, mps: 247, credits: 10)),
            ["Destination CID", "MTU", "MPS", "Initial Credits", "Result"]
        ),
        SignalVector(
            "15 07 0A00 0000 0000 0000 0000 0200",
            .leCreditBasedConnectionResponse(.init(refusing: .spsmNotSupported)),
            ["Destination CID", "MTU", "MPS", "Initial Credits", "Result"]
        ),
        SignalVector(
            "16 07 0400 4100 0500",
            .flowControlCredit(.init(channel: right, credits: 5)),
            ["CID", "Credits"]
        ),
    ]

    private static let channels = [
        SignalVector(
            "17 07 0C00 2700 4000 4000 0100 4000 4100",
            .creditBasedConnectionRequest(
                .init(spsm: .enhancedATT, mtu: 64, mps: 64, credits: 1, sources: [left, right])
            ),
            ["SPSM", "MTU", "MPS", "Initial Credits", "Source CID", "Source CID"]
        ),
        SignalVector(
            "18 07 0C00 4000 4000 0100 0400 4000 0000",
            .creditBasedConnectionResponse(
                .init(mtu: 64, mps: 64, credits: 1, result: .insufficientResources, destinations: [left, .none])
            ),
            ["MTU", "MPS", "Initial Credits", "Result", "Destination CID", "Destination CID"]
        ),
        SignalVector(
            "18 07 0800 0000 0000 0000 0800",
            .creditBasedConnectionResponse(
                .init(mtu: 0, mps: 0, credits: 0, result: .insufficientEncryption, destinations: [])
            ),
            ["MTU", "MPS", "Initial Credits", "Result"]
        ),
        SignalVector(
            "19 07 0600 8000 4000 4100",
            .creditBasedReconfigureRequest(.init(mtu: 128, mps: 64, channels: [right])),
            ["MTU", "MPS", "Destination CID"]
        ),
        SignalVector("1A 07 0200 0100", .creditBasedReconfigureResponse(.init(.mtuReduced)), ["Result"]),
    ]
}

@Suite("L2CAP signalling packets")
struct SignalPacketTests {
    private func identifier() throws -> SignalIdentifier { try #require(SignalIdentifier(wire: 7)) }

    @Test("Octets decode to the packet in the specification", arguments: SignalVector.all)
    func decoding(_ vector: SignalVector) throws {
        let packet = try SignalPacket(decoding: vector.octets)
        #expect(packet == SignalPacket(vector.signal, identifier: try identifier()))
    }

    @Test("A packet encodes to the octets in the specification", arguments: SignalVector.all)
    func encoding(_ vector: SignalVector) throws {
        #expect(SignalPacket(vector.signal, identifier: try identifier()).encoded == vector.octets)
    }

    @Test("The dissection has the specification's names and covers every octet once", arguments: SignalVector.all)
    func dissection(_ vector: SignalVector) throws {
        let layer = SignalPacket(vector.signal, identifier: try identifier()).dissection
        #expect(layer.name == "L2CAP \(vector.signal.code)")
        #expect(layer.fields.map(\.name) == vector.fields)
        #expect(layer.fields.flatMap(\.range) == Array(vector.octets.indices))
    }

    @Test("A packet is refused at every length except its own", arguments: SignalVector.all)
    func length(_ vector: SignalVector) {
        for length in 0..<vector.octets.count {
            #expect(throws: PacketError.self) { try SignalPacket(decoding: Array(vector.octets.prefix(length))) }
        }
        #expect(throws: PacketError.trailing(count: 1)) { try SignalPacket(decoding: vector.octets + [0]) }
    }

    @Test(
        "A packet of the right length with invalid fields is refused",
        arguments: [
            ("12 07 0700 1800 2800 0400 F4", .truncated(field: "Timeout")),
            ("12 07 0900 1800 2800 0400 F401 00", .trailing(count: 1)),
            ("13 07 0200 0200", .reserved(field: "Result")),
            ("01 07 0100 00", .truncated(field: "Reason")),
            ("06 07 0300 4100 40", .truncated(field: "Source CID")),
            ("17 07 0800 2700 4000 4000 0100", .reserved(field: "Source CID")),
            ("17 07 0900 2700 4000 4000 0100 40", .truncated(field: "Source CID")),
            ("17 07 1400 2700 4000 4000 0100 4000 4100 4200 4300 4400 4500", .reserved(field: "Source CID")),
            ("19 07 0400 8000 4000", .reserved(field: "Destination CID")),
            ("12 00 0800 1800 2800 0400 F401", .reserved(field: "Identifier")),
            ("12 07", .truncated(field: "Data Length")),
            ("", .truncated(field: "Code")),
        ] as [(String, PacketError)]
    )
    func fields(hex: String, error: PacketError) {
        #expect(throws: error) { try SignalPacket(decoding: [UInt8](hex: hex)) }
    }

    @Test("Random octets after any code never crash the decoder, and what decodes encodes to the same octets")
    func garbage() throws {
        var random = SeededGenerator(seed: 2)
        for round in 0..<10_000 {
            let data = (0..<Int(random.next() % 24)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let octets = [UInt8(round % 32), UInt8(truncatingIfNeeded: random.next()), UInt8(data.count), 0] + data
            guard let packet = try? SignalPacket(decoding: octets) else { continue }
            #expect(packet.encoded == octets)
            #expect(packet.dissection.fields.flatMap(\.range) == Array(octets.indices))
        }
    }

    @Test("Identifiers wrap around without zero")
    func identifiers() {
        var identifier = SignalIdentifier.first
        for _ in 0..<254 { identifier = identifier.next }
        #expect(identifier.wire == 0xFF)
        #expect(identifier.next == .first)
        #expect(SignalIdentifier(wire: 0) == nil)
    }

    @Test(
        "Connection parameters must be in range, and the timeout must survive two missed events",
        arguments: [
            (6, 6, 0, 10, true), (24, 40, 4, 500, true), (6, 0xC80, 0, 0xC80, true),
            (5, 6, 0, 10, false), (6, 0xC81, 0, 0xC80, false), (40, 24, 0, 500, false),
            (6, 6, 500, 0xC80, false), (6, 6, 499, 0xC80, true), (6, 6, 0, 9, false), (6, 6, 0, 0xC81, false),
            (40, 40, 0, 10, false), (40, 40, 0, 11, true), (40, 40, 9, 100, false), (40, 40, 9, 101, true),
        ] as [(UInt16, UInt16, UInt16, UInt16, Bool)]
    )
    func parameters(min: UInt16, max: UInt16, latency: UInt16, timeout: UInt16, isAllowed: Bool) {
        let request = Signal.ConnectionParameterUpdateRequest(
            intervalMin: min,
            intervalMax: max,
            latency: latency,
            timeout: timeout
        )
        #expect(request.isAllowed == isAllowed)
    }
}

@Suite("L2CAP header and channels")
struct L2CAPHeaderTests {
    @Test("A header has a length and a channel, and leaves the payload unread")
    func header() throws {
        let octets: [UInt8] = [0x05, 0x00, 0x04, 0x00, 0xAA, 0xBB]
        var decoder = PacketDecoder(octets.span)
        let header = try L2CAPHeader(from: &decoder)
        let left = decoder.remaining
        #expect(header == L2CAPHeader(length: 5, channel: .attribute))
        #expect(left == 2)
        var encoder = PacketEncoder()
        header.encode(into: &encoder)
        #expect(encoder.bytes == Array(octets.prefix(L2CAPHeader.size)))
        #expect(header.dissection.fields.map(\.text) == ["0x5", "Attribute Protocol"])
    }

    @Test("Only 0x0040 to 0x007F are credit-based channels of an LE link")
    func dynamicChannels() {
        let dynamic = (UInt16.min...UInt16.max).filter { ChannelIdentifier(wire: $0).isDynamic }
        #expect(dynamic == Array(0x0040...0x007F))
    }

    @Test("Only 0x0001 to 0x00FF are valid SPSMs")
    func multiplexers() {
        #expect([0x0000, 0x0001, 0x00FF, 0x0100].map { SPSM(wire: $0).isValid } == [false, true, true, false])
    }
}
