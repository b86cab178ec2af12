/// Cuts a stream of octets into HCI packets.
///
/// A UART packet says by its first octet what it is, and by a length further on where it ends. The stream has no other
/// marks: after one wrong octet everything that follows would be taken for something else, so the framer refuses and
/// the connection has to begin anew.
///
/// Core 6.0, Vol 4, Part A, 2.
package struct H4Framer: Sendable {
    /// Who sends what is framed.
    package enum Sender: Sendable { case host, controller }

    /// The longest packet that is taken, with its indicator, in octets.
    ///
    /// More than any controller announces, and little enough to hold for each connection.
    package static let longestPacket = 16_384

    private let sender: Sender
    private var partial: [UInt8] = []

    /// Whether a packet has begun whose end has not come.
    package var holdsPart: Bool { !partial.isEmpty }

    package init(from sender: Sender) { self.sender = sender }

    /// Forgets what has arrived of the packet that is not complete yet.
    package mutating func reset() { partial.removeAll(keepingCapacity: true) }

    /// Takes what arrived, and hands on each packet that is complete with it, indicator included.
    ///
    /// - Throws: ``TransportError/Code/garbage`` if this cannot be HCI; the packets before it have been handed on.
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

    /// The length of the packet at the beginning of `bytes`, or `nil` if they end before they tell.
    private func length(_ bytes: Span<UInt8>) throws(TransportError) -> Int? {
        guard let (header, width) = layout(of: bytes[0]) else {
            throw TransportError(.garbage, "0x\(String(bytes[0], radix: 16)) begins no HCI packet")
        }
        guard bytes.count >= header else { return nil }
        let payload = width == 1 ? Int(bytes[header - 1]) : Int(bytes[header - 2]) | Int(bytes[header - 1]) << 8
        let length = header + (bytes[0] == 0x05 ? payload & 0x3FFF : payload)
        guard length <= Self.longestPacket else {
            throw TransportError(.garbage, "an HCI packet of \(length) octets is longer than any that is taken")
        }
        return length
    }

    /// The octets of a header with its indicator, and how many at its end are the length; `nil` for what this sender
    /// never sends.
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
    /// Appends what `span` holds.
    mutating func append(copying span: Span<UInt8>) {
        span.withUnsafeBufferPointer { append(contentsOf: $0) }
    }
}
