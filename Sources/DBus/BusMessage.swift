/// A D-Bus message; D-Bus Specification, Message Format.
package struct BusMessage: Hashable, Sendable {
    package enum Kind: UInt8 {
        case call = 1
        case reply, error, signal
    }

    /// The codes of the header fields.
    package enum Field: UInt8, CaseIterable {
        case path = 1
        case interface, member, errorName, replySerial, destination, sender, signature, descriptors
    }

    /// The received octets are not a message.
    package struct Malformed: Error {}

    /// The maximum length of a received message, in octets.
    package static let limit = 4_194_304
    /// The maximum length that the specification allows, 128 MiB.
    private static let specifiedLimit = 134_217_728

    package var kind: Kind
    package var serial: UInt32
    package var path: String?
    package var interface: String?
    package var member: String?
    package var errorName: String?
    package var replySerial: UInt32?
    package var destination: String?
    package var sender: String?
    /// The number of file descriptors that come with the message; `nil` means none.
    package var descriptors: UInt32?
    /// True for a call whose caller wants no reply.
    package var expectsNoReply = false
    package var body: [BusValue] = []

    package init(
        kind: Kind,
        serial: UInt32 = 0,
        path: String? = nil,
        interface: String? = nil,
        member: String? = nil,
        errorName: String? = nil,
        replySerial: UInt32? = nil,
        destination: String? = nil,
        sender: String? = nil,
        body: [BusValue] = []
    ) {
        self.kind = kind
        self.serial = serial
        self.path = path
        self.interface = interface
        self.member = member
        self.errorName = errorName
        self.replySerial = replySerial
        self.destination = destination
        self.sender = sender
        self.body = body
    }

    /// The encoded message.
    package var octets: [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(512)
        octets += [UInt8(ascii: "l"), kind.rawValue, expectsNoReply ? 1 : 0, 1, 0, 0, 0, 0]
        octets.append(number: serial)
        octets.appendCounted(alignment: 8) { octets in
            for field in Field.allCases { write(field, to: &octets) }
        }
        octets.pad(to: 8)
        let begin = octets.count
        // The body begins at a multiple of 8, so its values are aligned.
        for value in body { value.write(to: &octets) }
        let length = UInt32(truncatingIfNeeded: octets.count - begin)
        for index in 0..<4 { octets[4 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
        return octets
    }

    private func write(_ field: Field, to octets: inout [UInt8]) {
        let value: BusValue? =
            switch field {
            case .path: path.map(BusValue.path)
            case .interface: interface.map(BusValue.string)
            case .member: member.map(BusValue.string)
            case .errorName: errorName.map(BusValue.string)
            case .replySerial: replySerial.map(BusValue.uint32)
            case .destination: destination.map(BusValue.string)
            case .sender: sender.map(BusValue.string)
            case .descriptors: descriptors.map(BusValue.uint32)
            case .signature: body.isEmpty ? nil : .signature(signature)
            }
        guard let value else { return }
        octets.pad(to: 8)
        octets.append(field.rawValue)
        BusValue.variant(value).write(to: &octets)
    }

    /// The signature of the body.
    package var signature: String {
        var octets: [UInt8] = []
        for value in body { value.writeCode(to: &octets) }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The size of a message, in octets.
    package struct Size: Hashable, Sendable {
        /// The header with its padding.
        package let header: Int
        package let total: Int
    }

    /// Returns the size of the message that begins with these octets; `nil` if there are fewer than 16.
    ///
    /// The size may exceed ``limit``, but a message that is larger than the specification allows is malformed.
    package static func size(of octets: ArraySlice<UInt8>) throws(Malformed) -> Size? {
        guard octets.count >= 16 else { return nil }
        let begin = Array(octets.prefix(16))
        guard let isBigEndian = isBigEndian(begin[0]), begin[3] == 1 else { throw Malformed() }
        var reader = BusReader(begin, isBigEndian: isBigEndian)
        guard let numbers = reader.all("yyyyuuu"), case .uint32(let body) = numbers[4],
            case .uint32(let fields) = numbers[6], body <= specifiedLimit, fields <= specifiedLimit
        else { throw Malformed() }
        let header = 16 + (Int(fields) + 7) / 8 * 8
        guard header + Int(body) <= specifiedLimit else { throw Malformed() }
        return Size(header: header, total: header + Int(body))
    }

    /// Returns the length of the message that begins with these octets; `nil` if there are fewer than 16.
    ///
    /// A message longer than ``limit`` is malformed.
    package static func length(of octets: ArraySlice<UInt8>) throws(Malformed) -> Int? {
        guard let size = try size(of: octets) else { return nil }
        guard size.total <= limit else { throw Malformed() }
        return size.total
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
    /// Decodes one whole message of the length that ``length(of:)`` returned.
    package init(reading octets: [UInt8]) throws(Malformed) {
        guard try Self.length(of: octets[...]) == octets.count, let size = try Self.size(of: octets[...]) else {
            throw Malformed()
        }
        let signature: String
        (self, signature) = try Self.header(of: Array(octets.prefix(size.header)))
        var content = BusReader(Array(octets[size.header...]), isBigEndian: octets[0] == UInt8(ascii: "B"))
        guard let values = content.all(signature) else { throw Malformed() }
        body = values
    }

    /// Decodes the header of a message; the body stays empty.
    package init(headerOf octets: [UInt8]) throws(Malformed) { self = try Self.header(of: octets).message }

    /// Decodes a header of the length that ``size(of:)`` returned, with its padding.
    ///
    /// `message` has no body yet; `signature` is the signature of the body.
    private static func header(of octets: [UInt8]) throws(Malformed) -> (message: Self, signature: String) {
        guard try size(of: octets[...])?.header == octets.count, let isBigEndian = isBigEndian(octets[0]),
            let kind = Kind(rawValue: octets[1])
        else { throw Malformed() }
        var lengths = BusReader(Array(octets.prefix(16)), isBigEndian: isBigEndian)
        guard let numbers = lengths.all("yyyyuuu"), case .uint32(let serial) = numbers[5],
            case .uint32(let fields) = numbers[6], serial != 0
        else { throw Malformed() }
        var message = Self(kind: kind, serial: serial)
        message.expectsNoReply = octets[2] & 1 != 0
        var header = BusReader(Array(octets.prefix(16 + Int(fields))), isBigEndian: isBigEndian)
        guard octets[(16 + Int(fields))...].allSatisfy({ $0 == 0 }),
            case .array(_, let pairs)? = header.all("yyyyuua(yv)")?.last
        else { throw Malformed() }
        let signature = try message.take(pairs)
        return (message, signature)
    }

    /// Stores the header fields; returns the signature of the body.
    private mutating func take(_ pairs: [BusValue]) throws(Malformed) -> String {
        var signature = ""
        for case .structure(let pair) in pairs {
            guard pair.count == 2, case .byte(let code) = pair[0], case .variant(let value) = pair[1] else { continue }
            // The specification requires to ignore unknown fields.
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
            case (.descriptors, .uint32(let number)): descriptors = number
            default: throw Malformed()
            }
        }
        return signature
    }
}
