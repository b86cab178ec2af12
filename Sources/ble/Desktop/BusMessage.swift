/// A D-Bus message; D-Bus Specification, Message Format.
struct BusMessage: Hashable, Sendable {
    enum Kind: UInt8 {
        case call = 1
        case reply, error, signal
    }

    /// The codes of the header fields.
    enum Field: UInt8, CaseIterable {
        case path = 1
        case interface, member, errorName, replySerial, destination, sender, signature
    }

    /// An error: the received octets are not a valid message.
    struct Malformed: Error {}

    /// The maximum length of a received message in octets; a longer one is malformed.
    ///
    /// The specification allows 128 MiB.
    static let limit = 65_536

    var kind: Kind
    var serial: UInt32
    var path: String?
    var interface: String?
    var member: String?
    var errorName: String?
    var replySerial: UInt32?
    var destination: String?
    var sender: String?
    var body: [BusValue] = []

    /// The encoded message.
    var octets: [UInt8] {
        var content: [UInt8] = [], octets: [UInt8] = []
        for value in body { value.write(to: &content) }
        let begin: [BusValue] = [
            .byte(UInt8(ascii: "l")), .byte(kind.rawValue), .byte(0), .byte(1),
            .uint32(UInt32(truncatingIfNeeded: content.count)), .uint32(serial),
            .array(of: .structure([.byte, .variant]), Field.allCases.compactMap(written)),
        ]
        for value in begin { value.write(to: &octets) }
        // The body begins at a multiple of 8.
        octets += [UInt8](repeating: 0, count: (8 - octets.count % 8) % 8)
        return octets + content
    }

    private func written(_ field: Field) -> BusValue? {
        let value: BusValue? =
            switch field {
            case .path: path.map(BusValue.path)
            case .interface: interface.map(BusValue.string)
            case .member: member.map(BusValue.string)
            case .errorName: errorName.map(BusValue.string)
            case .replySerial: replySerial.map(BusValue.uint32)
            case .destination: destination.map(BusValue.string)
            case .sender: sender.map(BusValue.string)
            case .signature: body.isEmpty ? nil : .signature(body.map(\.type.code).joined())
            }
        return value.map { .structure([.byte(field.rawValue), .variant($0)]) }
    }

    /// Returns the length of the message that begins with these octets; `nil` if there are fewer than the 16 octets
    /// that contain the length.
    static func length(of octets: ArraySlice<UInt8>) throws(Malformed) -> Int? {
        guard octets.count >= 16 else { return nil }
        let begin = Array(octets.prefix(16))
        guard let isBigEndian = isBigEndian(begin[0]), begin[3] == 1 else { throw Malformed() }
        var reader = BusReader(begin, isBigEndian: isBigEndian)
        guard let numbers = reader.all("yyyyuuu"), case .uint32(let body) = numbers[4],
            case .uint32(let fields) = numbers[6], body <= limit, fields <= limit
        else { throw Malformed() }
        let length = 16 + (Int(fields) + 7) / 8 * 8 + Int(body)
        guard length <= limit else { throw Malformed() }
        return length
    }

    private static func isBigEndian(_ mark: UInt8) -> Bool? {
        switch mark {
        case UInt8(ascii: "l"): false
        case UInt8(ascii: "B"): true
        default: nil
        }
    }
}

extension BusMessage {
    /// Decodes one complete message, whose length must be the one that ``length(of:)`` returns.
    init(reading octets: [UInt8]) throws(Malformed) {
        guard try Self.length(of: octets[...]) == octets.count, let isBigEndian = Self.isBigEndian(octets[0]),
            let kind = Kind(rawValue: octets[1])
        else { throw Malformed() }
        var lengths = BusReader(Array(octets.prefix(16)), isBigEndian: isBigEndian)
        guard let numbers = lengths.all("yyyyuuu"), case .uint32(let body) = numbers[4],
            case .uint32(let serial) = numbers[5], case .uint32(let fields) = numbers[6], serial != 0
        else { throw Malformed() }
        self.init(kind: kind, serial: serial)
        let begin = octets.count - Int(body)
        var header = BusReader(Array(octets.prefix(16 + Int(fields))), isBigEndian: isBigEndian)
        guard octets[(16 + Int(fields))..<begin].allSatisfy({ $0 == 0 }),
            case .array(_, let pairs)? = header.all("yyyyuua(yv)")?.last
        else { throw Malformed() }
        var signature = ""
        for case .structure(let pair) in pairs {
            guard pair.count == 2, case .byte(let code) = pair[0], case .variant(let value) = pair[1] else { continue }
            // The specification requires that unknown fields are ignored.
            guard let field = Field(rawValue: code) else { continue }
            switch (field, value) {
            case (.path, .path(let text)): path = text
            case (.interface, .string(let text)): interface = text
            case (.member, .string(let text)): member = text
            case (.errorName, .string(let text)): errorName = text
            case (.replySerial, .uint32(let number)): replySerial = number
            case (.destination, .string(let text)): destination = text
            case (.sender, .string(let text)): sender = text
            case (.signature, .signature(let text)): signature = text
            default: throw Malformed()
            }
        }
        var content = BusReader(Array(octets[begin...]), isBigEndian: isBigEndian)
        guard let values = content.all(signature) else { throw Malformed() }
        self.body = values
    }
}
