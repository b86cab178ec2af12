import BLEWire
import Testing

/// A packet as octets, as a value, and as the names of its fields in the specification.
struct SMPVector: Sendable, CustomTestStringConvertible {
    let octets: [UInt8]
    let packet: SMPPacket
    let fields: [String]

    init(_ hex: String, _ packet: SMPPacket, _ fields: String...) {
        octets = [UInt8](hex: hex)
        self.packet = packet
        self.fields = ["Code"] + fields
    }

    var testDescription: String { packet.opcode.description }

    /// Every packet of Core 6.0, Vol 3, Part H, 3.5 and 3.6.
    static let all = [
        features("01", SMPPacket.pairingRequest), features("02", SMPPacket.pairingResponse),
        SMPVector("03 \(digits)", .pairingConfirm(.init(value)), "Confirm Value"),
        SMPVector("04 \(digits)", .pairingRandom(.init(value)), "Random Value"),
        SMPVector("05 04", .pairingFailed(.init(.confirmValueFailed)), "Reason"),
        SMPVector("06 \(digits)", .encryptionInformation(.init(value)), "Long Term Key"),
        SMPVector(
            "07 3412 0807060504030201",
            .centralIdentification(.init(diversifier: 0x1234, random: 0x0102_0304_0506_0708)),
            "EDIV",
            "Rand"
        ),
        SMPVector("08 \(digits)", .identityInformation(.init(value)), "Identity Resolving Key"),
        SMPVector(
            "09 01 060504030201",
            .identityAddressInformation(.init(DeviceAddress(0x0102_0304_0506, .random))),
            "AddrType",
            "BD_ADDR"
        ),
        SMPVector("0A \(digits)", .signingInformation(.init(value)), "Signature Key"),
        SMPVector("0B 0D", .securityRequest(.init([.bonding, .mitm, .secureConnections])), "AuthReq"),
        publicKey,
        SMPVector("0D \(digits)", .pairingDHKeyCheck(.init(value)), "DHKey Check"),
        SMPVector("0E 04", .pairingKeypressNotification(.init(type: 4)), "Notification Type"),
    ]

    private static let digits = "0F0E0D0C0B0A09080706050403020100"
    private static let value = Key128(wire: 0x0001_0203_0405_0607_0809_0A0B_0C0D_0E0F)

    private static func features(_ code: String, _ make: (SMP.PairingFeatures) -> SMPPacket) -> Self {
        var features = SMP.PairingFeatures()
        features.ioCapability = .keyboardDisplay
        features.outOfBand = .present
        features.authentication = [.bonding, .mitm, .secureConnections]
        features.greatestKeySize = 16
        features.initiatorKeys = [.encryption, .identity]
        features.responderKeys = [.encryption, .identity, .signing, .link]
        return SMPVector(
            code + "04 01 0D 10 03 0F",
            make(features),
            "IO Capability",
            "OOB Data Flag",
            "AuthReq",
            "Maximum Encryption Key Size",
            "Initiator Key Distribution",
            "Responder Key Distribution"
        )
    }

    private static let publicKey: Self = {
        let x = [UInt8](0..<32), y = [UInt8](32..<64)
        guard let key = HCI.PublicKey(x: x, y: y) else { preconditionFailure("a coordinate has 32 octets") }
        let hex = "0C" + (x + y).hexadecimal
        return SMPVector(hex, .pairingPublicKey(.init(key)), "Key X Coordinate", "Key Y Coordinate")
    }()
}

/// Core 6.0, Vol 3, Part H, 3.
@Suite("SMP packets")
struct SMPPacketTests {
    @Test("Octets decode to the packet in the specification", arguments: SMPVector.all)
    func decoding(_ vector: SMPVector) throws {
        #expect(try SMPPacket(decoding: vector.octets) == vector.packet)
    }

    @Test("A packet encodes to the octets in the specification", arguments: SMPVector.all)
    func encoding(_ vector: SMPVector) {
        #expect(vector.packet.encoded == vector.octets)
        #expect(vector.packet.opcode.wire == vector.octets[0])
    }

    @Test("A packet is refused at every length except its own", arguments: SMPVector.all)
    func lengths(_ vector: SMPVector) {
        for length in 0..<vector.octets.count {
            #expect(throws: PacketError.self) { try SMPPacket(decoding: Array(vector.octets[..<length])) }
        }
        #expect(throws: PacketError.trailing(count: 1)) { try SMPPacket(decoding: vector.octets + [0]) }
    }

    @Test("The dissection has the specification's names and covers every octet once", arguments: SMPVector.all)
    func dissection(_ vector: SMPVector) {
        let layer = vector.packet.dissection
        #expect(layer.name == "SMP \(vector.packet.opcode)")
        #expect(layer.fields.map(\.name) == vector.fields)
        #expect(layer.fields.flatMap(\.range) == Array(vector.octets.indices))
    }

    @Test("Every named code has a test vector, and no other code decodes")
    func completeness() {
        #expect(SMPVector.all.map(\.packet.opcode) == SMP.Opcode.all)
        for wire in UInt8.min...UInt8.max {
            let opcode = SMP.Opcode(wire: wire), isKnown = SMP.Opcode.all.contains(opcode)
            #expect(opcode.description.hasPrefix("Code 0x") == !isKnown)
            guard !isKnown else { continue }
            #expect(throws: PacketError.unknown(code: UInt16(wire))) { try SMPPacket(decoding: [wire, 1, 2, 3]) }
        }
    }

    @Test("The 16 reasons have distinct names, and other reasons are preserved")
    func reasons() {
        let names = (UInt8(0x01)...0x10).map { SMP.Reason(wire: $0).description }
        #expect(Set(names).count == 16)
        #expect(names.allSatisfy { !$0.contains("0x") })
        #expect(SMP.Reason(wire: 0x11).description == "Reason 0x11")
    }

    @Test(
        "An IO capability above the last defined one is reserved",
        arguments: ["01 05 00 01 10 00 00", "02 03 02 01 10 00 00"]
    )
    func reserved(hex: String) {
        #expect(throws: PacketError.self) { try SMPPacket(decoding: [UInt8](hex: hex)) }
    }

    @Test("Bonding is requested only by bonding flags of 01", arguments: UInt8.min...UInt8.max)
    func bonding(bits: UInt8) {
        #expect(SMP.AuthenticationRequirements(wire: bits).isBonding == (bits & 3 == 1))
    }

    @Test("A monitor shows the negotiated features")
    func texts() {
        let octets = [UInt8](hex: "02 4020 0B00 0700 0600 01 03 00 09 10 02 00")
        var trace = HCITrace()
        let layers = trace.dissect(h4: octets, isFromHost: true).layers
        #expect(layers.last?.name == "SMP Pairing Request")
        let texts = layers.last?.fields.map(\.text)
        #expect(texts == ["Pairing Request", "NoInputNoOutput", "not present", "bonding, SC", "0x10", "IdKey", "none"])
    }
}
