/// A parser that splits a stream of octets into HCI packets.
///
/// The first octet of a packet is its type, and a length field determines its end. Nothing else marks packets: after
/// one wrong octet, everything that follows would be misinterpreted. So an error ends the connection.
///
/// Core 6.0, Vol 4, Part A, 2.
package struct H4Framer: Sendable {
    /// The device that sends the stream.
    package enum Sender: Sendable { case host, controller }

    /// The maximum length of a packet, including its indicator, in octets.
    ///
    /// No controller announces larger packets, and this much memory per connection does no harm.
    package static let longestPacket = 16_384

    private let sender: Sender
    private var partial: [UInt8] = []

    /// True if part of a packet has been received.
    package var holdsPart: Bool { !partial.isEmpty }

    package init(from sender: Sender) { self.sender = sender }

    /// Drops the incomplete packet, if there is one.
    package mutating func reset() { partial.removeAll(keepingCapacity: true) }

    /// Processes received octets, and passes on each complete packet, including its indicator.
    ///
    /// - Throws: ``TransportError/Code/garbage`` if the octets are not HCI. Packets before the error have been passed
    ///   on.
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

    /// Returns the length of the header, including the indicator, and the width of its length field; `nil` if the
    /// sender cannot send packets of this type.
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
