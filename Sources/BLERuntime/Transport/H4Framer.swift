/// A splitter of octet streams into HCI packets.
///
/// The first octet of a packet announces its type, and a length field its end. There are no other marks: after one
/// wrong octet, everything would be misinterpreted, so an error ends the connection.
///
/// Core 6.0, Vol 4, Part A, 2.
package struct H4Framer: Sendable {
    /// The sender of the stream.
    package enum Sender: Sendable { case host, controller }

    /// The maximum length of a packet including its indicator, in octets.
    ///
    /// It is more than any controller announces, and little enough per connection.
    package static let longestPacket = 16_384

    private let sender: Sender
    private var partial: [UInt8] = []

    /// True if a packet is incomplete.
    package var holdsPart: Bool { !partial.isEmpty }

    package init(from sender: Sender) { self.sender = sender }

    /// Drops an incomplete packet.
    package mutating func reset() { partial.removeAll(keepingCapacity: true) }

    /// Processes received octets and passes on each complete packet, including its indicator.
    ///
    /// - Throws: ``TransportError/Code/garbage`` if the octets are not HCI; the packets before them have been
    ///   delivered.
    package mutating func receive(
        _ chunk: Span<UInt8>,
        packet: (Span<UInt8>) -> Void
    ) throws(TransportError) {
        var offset = 0
        while !partial.isEmpty, offset < chunk.count {
            let wanted = try length(partial.span).map { $0 - partial.count } ?? 1
            let taken = min(wanted, chunk.count - offset)
            partial.append(copying: chunk.extracting(offset..<(offset + taken)))
            offset += taken
            guard try length(partial.span) == partial.count else { continue }
            packet(partial.span)
            reset()
        }
        while offset < chunk.count {
            let rest = chunk.extracting(offset..<chunk.count)
            guard let length = try length(rest), length <= rest.count else {
                partial.append(copying: rest)
                return
            }
            packet(rest.extracting(0..<length))
            offset += length
        }
    }

    /// Returns the length of the packet at the beginning of `bytes`; `nil` if the header is incomplete.
    private func length(_ bytes: Span<UInt8>) throws(TransportError) -> Int? {
        guard let (header, width) = layout(of: bytes[0]) else {
            throw TransportError(.garbage, "0x\(String(bytes[0], radix: 16)) is not the start of an HCI packet")
        }
        guard bytes.count >= header else { return nil }
        let payload = width == 1 ? Int(bytes[header - 1]) : Int(bytes[header - 2]) | Int(bytes[header - 1]) << 8
        let length = header + (bytes[0] == 0x05 ? payload & 0x3FFF : payload)
        guard length <= Self.longestPacket else {
            throw TransportError(.garbage, "an HCI packet of \(length) octets is too long")
        }
        return length
    }

    /// Returns the length of the header including the indicator, and the width of its length field; `nil` for types
    /// that this sender does not send.
    private func layout(of indicator: UInt8) -> (header: Int, width: Int)? {
        switch (indicator, sender) {
        case (0x01, .host): (4, 1)
        case (0x02, _): (5, 2)
        case (0x03, _): (4, 1)
        case (0x04, .controller): (3, 1)
        case (0x05, _): (5, 2)
        case (_, _): nil
        }
    }
}

extension Array<UInt8> {
    /// Appends the contents of `span`.
    mutating func append(copying span: Span<UInt8>) {
        span.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
