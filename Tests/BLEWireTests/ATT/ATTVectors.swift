import BLEWire
import Testing

/// A packet as octets, as a value, and as the names of its fields in the specification.
struct ATTVector: Sendable, CustomTestStringConvertible {
    let octets: [UInt8]
    let packet: ATTPacket
    let fields: [String]

    init(_ hex: String, _ packet: ATTPacket, _ fields: [String] = []) {
        octets = [UInt8](hex: hex)
        self.packet = packet
        self.fields = ["Attribute Opcode"] + fields
    }

    var testDescription: String { packet.opcode.description }
}

extension AttributeHandle {
    init(_ wire: UInt16) { self.init(wire: wire) }
}

extension AttributeHandleRange {
    /// A range of a test, which knows that it is one.
    init(_ handles: ClosedRange<UInt16>) {
        guard let range = Self(AttributeHandle(handles.lowerBound), AttributeHandle(handles.upperBound)) else {
            preconditionFailure("\(handles) has a zero in it")
        }
        self = range
    }
}

extension ATTVector {
    /// Every packet of Core 6.0, Vol 3, Part F, 3.4, at least once.
    static let all = exchange + discovery + lists + reading + writing + server

    private static let service = BluetoothUUID.full(0x0001_0203_0405_0607_0809_0A0B_0C0D_0E0F)
    private static let range = ["Starting Handle", "Ending Handle"]

    private static let exchange = [
        ATTVector(
            "01 12 2A00 03",
            .errorResponse(.init(request: .writeRequest, handle: AttributeHandle(0x2A), code: .writeNotPermitted)),
            ["Request Opcode In Error", "Attribute Handle In Error", "Error Code"]
        ),
        ATTVector("02 0502", .exchangeMTURequest(.init(clientMTU: 517)), ["Client Rx MTU"]),
        ATTVector("03 B900", .exchangeMTUResponse(.init(serverMTU: 185)), ["Server Rx MTU"]),
    ]

    private static let discovery = [
        ATTVector("04 0100 FFFF", .findInformationRequest(.init(.all)), range),
        ATTVector(
            "05 01 0300 0229 0400 0129",
            .findInformationResponse(
                .init(entries: [
                    .init(handle: AttributeHandle(3), type: .short(0x2902)),
                    .init(handle: AttributeHandle(4), type: .short(0x2901)),
                ])
            ),
            ["Format", "Handle", "UUID", "Handle", "UUID"]
        ),
        ATTVector(
            "05 02 0300 0F0E0D0C0B0A09080706050403020100",
            .findInformationResponse(.init(entries: [.init(handle: AttributeHandle(3), type: service)])),
            ["Format", "Handle", "UUID"]
        ),
        ATTVector(
            "06 0100 FFFF 0028 0D18",
            .findByTypeValueRequest(.init(.all, type: 0x2800, value: [0x0D, 0x18])),
            range + ["Attribute Type", "Attribute Value"]
        ),
        ATTVector(
            "07 1000 1F00 3000 FFFF",
            .findByTypeValueResponse(
                .init(entries: [
                    .init(AttributeHandleRange(0x10...0x1F)), .init(AttributeHandleRange(0x30...0xFFFF)),
                ])
            ),
            ["Found Attribute Handle", "Group End Handle", "Found Attribute Handle", "Group End Handle"]
        ),
    ]

    private static let lists = [
        ATTVector(
            "08 0100 2000 0328",
            .readByTypeRequest(.init(AttributeHandleRange(1...0x20), type: .short(0x2803))),
            range + ["Attribute Type"]
        ),
        ATTVector(
            "08 0100 2000 0F0E0D0C0B0A09080706050403020100",
            .readByTypeRequest(.init(AttributeHandleRange(1...0x20), type: service)),
            range + ["Attribute Type"]
        ),
        ATTVector(
            "09 04 0500 AABB 0700 CCDD",
            .readByTypeResponse(.init(entries: .of((5, [0xAA, 0xBB]), (7, [0xCC, 0xDD])))),
            ["Length", "Attribute Handle", "Attribute Value", "Attribute Handle", "Attribute Value"]
        ),
        ATTVector(
            "09 02 0500",
            .readByTypeResponse(.init(entries: .of((5, [])))),
            ["Length", "Attribute Handle", "Attribute Value"]
        ),
        ATTVector(
            "10 0100 FFFF 0028",
            .readByGroupTypeRequest(.init(.all, groupType: .short(0x2800))),
            range + ["Attribute Group Type"]
        ),
        ATTVector(
            "11 06 0100 0500 0018 0600 0900 0118",
            .readByGroupTypeResponse(
                .init(entries: [
                    .init(AttributeHandleRange(1...5), value: [0x00, 0x18]),
                    .init(AttributeHandleRange(6...9), value: [0x01, 0x18]),
                ])
            ),
            ["Length"]
                + ["Attribute Handle", "End Group Handle", "Attribute Value"]
                + ["Attribute Handle", "End Group Handle", "Attribute Value"]
        ),
    ]

    private static let reading = [
        ATTVector("0A 2A00", .readRequest(.init(handle: AttributeHandle(0x2A))), ["Attribute Handle"]),
        ATTVector("0B 0648", .readResponse(.init(value: [0x06, 0x48])), ["Attribute Value"]),
        ATTVector("0B", .readResponse(.init(value: [])), ["Attribute Value"]),
        ATTVector(
            "0C 2A00 1600",
            .readBlobRequest(.init(handle: AttributeHandle(0x2A), offset: 22)),
            ["Attribute Handle", "Value Offset"]
        ),
        ATTVector("0D 010203", .readBlobResponse(.init(part: [1, 2, 3])), ["Part Attribute Value"]),
        ATTVector(
            "0E 0300 0500",
            .readMultipleRequest(.init(handles: [AttributeHandle(3), AttributeHandle(5)])),
            ["Set Of Handles", "Set Of Handles"]
        ),
        ATTVector("0F 010203", .readMultipleResponse(.init(values: [1, 2, 3])), ["Set Of Values"]),
        ATTVector(
            "20 0300 0500",
            .readMultipleVariableRequest(.init(handles: [AttributeHandle(3), AttributeHandle(5)])),
            ["Set Of Handles", "Set Of Handles"]
        ),
        ATTVector(
            "21 0200 AABB 0000 0100 CC",
            .readMultipleVariableResponse(.init(values: [[0xAA, 0xBB], [], [0xCC]], mtu: 23)),
            ["Value Length", "Attribute Value", "Value Length", "Attribute Value", "Value Length", "Attribute Value"]
        ),
    ]

    private static let writing = [
        ATTVector(
            "12 2A00 0100",
            .writeRequest(.init(handle: AttributeHandle(0x2A), value: [1, 0])),
            ["Attribute Handle", "Attribute Value"]
        ),
        ATTVector("13", .writeResponse),
        ATTVector(
            "52 2A00 AB",
            .writeCommand(.init(handle: AttributeHandle(0x2A), value: [0xAB])),
            ["Attribute Handle", "Attribute Value"]
        ),
        ATTVector(
            "D2 2A00 AB 000102030405060708090A0B",
            .signedWriteCommand(.init(handle: AttributeHandle(0x2A), value: [0xAB], signature: Array(0..<12))),
            ["Attribute Handle", "Attribute Value", "Authentication Signature"]
        ),
        ATTVector(
            "16 2A00 1200 0102",
            .prepareWriteRequest(.init(handle: AttributeHandle(0x2A), offset: 18, part: [1, 2])),
            ["Attribute Handle", "Value Offset", "Part Attribute Value"]
        ),
        ATTVector(
            "17 2A00 1200 0102",
            .prepareWriteResponse(.init(handle: AttributeHandle(0x2A), offset: 18, part: [1, 2])),
            ["Attribute Handle", "Value Offset", "Part Attribute Value"]
        ),
        ATTVector("18 00", .executeWriteRequest(.init(.cancel)), ["Flags"]),
        ATTVector("18 01", .executeWriteRequest(.init(.write)), ["Flags"]),
        ATTVector("19", .executeWriteResponse),
    ]

    private static let server = [
        ATTVector(
            "1B 2A00 0648",
            .notification(.init(handle: AttributeHandle(0x2A), value: [0x06, 0x48])),
            ["Attribute Handle", "Attribute Value"]
        ),
        ATTVector(
            "1D 2A00 0648",
            .indication(.init(handle: AttributeHandle(0x2A), value: [0x06, 0x48])),
            ["Attribute Handle", "Attribute Value"]
        ),
        ATTVector("1E", .confirmation),
        ATTVector(
            "23 2A00 0100 06 2C00 0200 0708",
            .multipleNotification(
                .init(entries: [
                    .init(handle: AttributeHandle(0x2A), value: [6]),
                    .init(handle: AttributeHandle(0x2C), value: [7, 8]),
                ])
            ),
            ["Attribute Handle", "Value Length", "Attribute Value"]
                + ["Attribute Handle", "Value Length", "Attribute Value"]
        ),
    ]
}

extension ATT.ReadByTypeResponse.Entries {
    /// Entries with these handles and values.
    fileprivate static func of(_ entries: (handle: UInt16, value: [UInt8])...) -> Self {
        var all = Self()
        for entry in entries { all.append(AttributeHandle(entry.handle), entry.value[...]) }
        return all
    }
}
