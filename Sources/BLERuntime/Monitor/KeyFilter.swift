package import BLEWire

/// A filter that overwrites the keys in packets with zeros, so that a capture can be shared.
///
/// The filter covers the keys of pairing (confirm values, random numbers, LTKs, IRKs, CSRKs), keys that hosts give to
/// controllers, and link keys of BR/EDR. Lengths, addresses and codes are kept. A continuation fragment is also
/// overwritten if the first fragment of its packet was not seen, because it may contain the end of a key.
///
/// Core 6.0, Vol 3, Part H, 3.5 and 3.6; Vol 4, Part E, 7.
package struct KeyFilter: Sendable {
    /// The maximum number of streams that are tracked; when a further stream appears, all earlier ones are forgotten.
    ///
    /// A stream consists of the ACL packets of one source, connection handle and direction.
    private static let mostStreams = 256

    private struct Stream: Hashable, Sendable {
        let source: PacketSource
        let handle: UInt16
        let direction: PacketRecord.Direction
    }

    /// The index of the key's first octet in a command packet, by opcode.
    private static let commands: [UInt16: Int] = [
        0x040B: 10, 0x040D: 10, 0x042E: 10, 0x0430: 10, 0x0445: 10, 0x0C11: 4, 0x2017: 4, 0x2019: 16, 0x201A: 6,
        0x2027: 11,
    ]
    /// The opcodes of commands whose results are secret: LE Encrypt, LE Rand, and the reading of out-of-band data.
    private static let results: Set<UInt16> = [0x2017, 0x2018, 0x0C57, 0x0C7D]
    /// The index of the key's first octet in an event packet, by event code.
    private static let events: [UInt8: Int] = [0x15: 4, 0x18: 9, 0x3B: 9]
    /// The opcodes of pairing packets with secrets.
    private static let pairing: Set<UInt8> = [0x03, 0x04, 0x06, 0x08, 0x0A]

    /// The tracked streams; the value is true if the stream's current L2CAP packet contains a key.
    private var streams: [Stream: Bool] = [:]

    package init() {}

    /// Overwrites a packet with zeros, from the first octet of a key to the end of the packet.
    ///
    /// - Returns: The packet, and the range of the octets that were overwritten, which is `nil` if the packet contains
    ///   no key.
    package mutating func filter(_ record: PacketRecord) -> (record: PacketRecord, hidden: Range<Int>?) {
        guard let start = firstSecret(record), start < record.bytes.count else { return (record, nil) }
        var record = record
        let hidden = start..<record.bytes.count
        record.bytes.replaceSubrange(hidden, with: repeatElement(0, count: hidden.count))
        return (record, hidden)
    }

    /// Returns the layers of a packet, with a placeholder for each field that contains overwritten octets, and for all
    /// later fields.
    ///
    /// - Parameters:
    ///   - hidden: The range of the octets that ``filter(_:)`` has overwritten.
    ///   - layers: The layers of the packet.
    /// - Returns: The layers with the same names and ranges.
    package static func hide(_ hidden: Range<Int>, in layers: [DissectedLayer]) -> [DissectedLayer] {
        var start = 0
        return layers.map { layer in
            defer { start += layer.size }
            let fields = layer.fields.map { field in
                start + field.range.upperBound > hidden.lowerBound
                    ? field.replacing(text: "left out to protect keys")
                    : field
            }
            return DissectedLayer(name: layer.name, fields: fields)
        }
    }

    private mutating func firstSecret(_ record: PacketRecord) -> Int? {
        let bytes = record.bytes
        guard bytes.count >= 4 else { return nil }
        let word = UInt16(bytes[1]) | UInt16(bytes[2]) << 8
        switch HCI.PacketType(wire: bytes[0]) {
        case .command: return Self.commands[word]
        case .event: return Self.firstSecret(inEvent: bytes)
        case .acl:
            return firstSecret(
                inData: bytes,
                Stream(
                    source: record.source,
                    handle: word & 0x0FFF,
                    direction: record.direction
                ),
                isContinuing: bytes[2] >> 4 & 3 == 1
            )
        default: return nil
        }
    }

    private static func firstSecret(inEvent bytes: [UInt8]) -> Int? {
        switch bytes[1] {
        case 0x0E where bytes.count >= 6:
            return results.contains(UInt16(bytes[4]) | UInt16(bytes[5]) << 8) ? 7 : nil
        case 0x3E: return bytes[3] == 0x09 ? 5 : nil
        default: return events[bytes[1]]
        }
    }

    private mutating func firstSecret(inData bytes: [UInt8], _ stream: Stream, isContinuing: Bool) -> Int? {
        if streams.count >= Self.mostStreams, streams[stream] == nil { streams = [:] }
        if isContinuing { return streams[stream] == false ? nil : 5 }
        guard bytes.count >= 9 else {
            streams[stream] = true
            return nil
        }
        let channel = UInt16(bytes[7]) | UInt16(bytes[8]) << 8
        let isPairing = channel == 6 || channel == 7
        let isSecret = isPairing && (bytes.count < 10 || Self.pairing.contains(bytes[9]))
        streams[stream] = isSecret
        return isSecret ? 10 : nil
    }
}
