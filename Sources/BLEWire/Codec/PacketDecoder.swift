/// A decoder that reads packets from borrowed bytes.
///
/// `Span` checks the bounds of every access, so the decoder needs no unsafe code.
package struct PacketDecoder: Wire, ~Escapable {
    private let bytes: Span<UInt8>
    private var offset = 0

    @_lifetime(copy bytes)
    @inline(__always)
    package init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    /// The number of unread octets.
    @inline(__always)
    package var remaining: Int { bytes.count - offset }

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func integer<T: WireInteger>(
        _ value: inout T,
        _ name: StaticString
    ) throws(PacketError) {
        let size = T.octets
        guard remaining >= size else { throw .truncated(field: name) }
        var low: UInt64 = 0, high: UInt64 = 0
        for i in 0..<min(size, 8) { low |= UInt64(bytes[offset + i]) &<< UInt64(8 * i) }
        if size > 8 { for i in 0..<8 { high |= UInt64(bytes[offset + 8 + i]) &<< UInt64(8 * i) } }
        value = T(low: low, high: high)
        offset += size
    }

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func narrow(_ value: inout UInt64, octets: Int, _ name: StaticString) throws(PacketError) {
        guard remaining >= octets else { throw .truncated(field: name) }
        value = 0
        for i in 0..<octets { value |= UInt64(bytes[offset + i]) &<< UInt64(8 * i) }
        offset += octets
    }

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func bytes(_ value: inout [UInt8], count: Int, _ name: StaticString) throws(PacketError) {
        guard count >= 0, remaining >= count else { throw .truncated(field: name) }
        value.removeAll(keepingCapacity: true)
        value.append(copying: bytes.extracting(offset..<(offset + count)))
        offset += count
    }

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func rest(_ value: inout [UInt8], _ name: StaticString) throws(PacketError) {
        value = [UInt8](copying: unread)
        offset = bytes.count
    }

    @_lifetime(self: copy self)
    package mutating func size(
        _ current: Int,
        among choices: [Int],
        _ name: StaticString
    ) throws(PacketError) -> Int {
        guard choices.contains(remaining) else { throw .truncated(field: name) }
        return remaining
    }

    @_lifetime(self: copy self)
    package mutating func extent(
        _ current: Int,
        before trailing: Int,
        limit: Int?,
        _ name: StaticString
    ) throws(PacketError) -> Int {
        guard remaining >= trailing else { throw .truncated(field: name) }
        return min(remaining - trailing, limit ?? .max)
    }

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func valueList(
        _ octets: inout [UInt8],
        length: Int,
        _ handleName: StaticString,
        _ valueName: StaticString
    ) throws(PacketError) {
        let excess = remaining % (2 + length)
        guard excess == 0 else { throw .truncated(field: excess < 2 ? handleName : valueName) }
        try rest(&octets, valueName)
    }

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func hasElement(at index: Int, of count: Int) -> Bool { remaining > 0 }

    /// A view of the octets that have not been read yet, such as a payload that can be passed on without a copy.
    package var unread: Span<UInt8> {
        @_lifetime(copy self)
        @inline(__always)
        get { bytes.extracting(droppingFirst: offset) }
    }
}

extension Packet {
    /// Decodes a packet that fills `bytes` exactly.
    @inline(__always)
    package init(decoding bytes: Span<UInt8>) throws(PacketError) {
        var decoder = PacketDecoder(bytes)
        try self.init(from: &decoder)
        guard decoder.remaining == 0 else { throw .trailing(count: decoder.remaining) }
    }

    /// Decodes a packet that fills `bytes` exactly.
    package init(decoding bytes: [UInt8]) throws(PacketError) { try self.init(decoding: bytes.span) }

    /// Decodes a header or another packet from the front of `decoder`.
    @inline(__always)
    package init(from decoder: inout PacketDecoder) throws(PacketError) {
        self.init()
        try layout(&decoder)
    }
}

extension [UInt8] {
    /// Copies borrowed bytes into a new array.
    package init(copying span: Span<UInt8>) {
        self = []
        append(copying: span)
    }

    /// Appends a copy of borrowed bytes.
    package mutating func append(copying span: Span<UInt8>) {
        // Even an append of no octets would write the count to the storage that all empty arrays of a process share.
        guard !span.isEmpty else { return }
        append(addingCapacity: span.count) { (output: inout OutputSpan<UInt8>) in
            for index in span.indices { output.append(span[index]) }
        }
    }
}

/// An error that explains why bytes are not a valid packet.
package enum PacketError: Error, Equatable, Sendable {
    /// The bytes end before or inside the named field.
    case truncated(field: StaticString)
    /// `count` octets are left over after the last field.
    case trailing(count: Int)
    /// The named field has a value that the specification reserves.
    case reserved(field: StaticString)
    /// The protocol has no packet with this code.
    case unknown(code: UInt16)

    package static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.truncated(let x), .truncated(let y)), (.reserved(let x), .reserved(let y)): "\(x)" == "\(y)"
        case (.trailing(let x), .trailing(let y)): x == y
        case (.unknown(let x), .unknown(let y)): x == y
        default: false
        }
    }
}

extension PacketError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated(let field): "the packet ends before the end of \(field)"
        case .trailing(count: 1): "1 octet follows the last field"
        case .trailing(let count): "\(count) octets follow the last field"
        case .reserved(let field): "\(field) has a reserved value"
        case .unknown(let code): "no packet has the code 0x\(String(code, radix: 16))"
        }
    }
}
