/// The identifier that matches a signalling response to its request, 0x01 to 0xFF.
///
/// Core 6.0, Vol 3, Part A, 4.
package struct SignalIdentifier: WireField, Hashable {
    package let wire: UInt8

    /// Creates an identifier; returns `nil` for 0x00, which is not allowed.
    package init?(wire: UInt8) {
        guard wire != 0 else { return nil }
        self.wire = wire
    }

    private init(checked wire: UInt8) { self.wire = wire }

    /// The identifier of the first request on a link.
    package static let first = Self(checked: 1)

    /// The identifier of the request after this one; 0x01 follows 0xFF.
    package var next: Self { Self(checked: wire == .max ? 1 : wire + 1) }
}

/// One packet on the LE signalling channel: a command and its identifier.
///
/// On an LE link, each packet contains exactly one command.
///
/// Core 6.0, Vol 3, Part A, 4.
package struct SignalPacket: Equatable, Sendable {
    /// The minimum MTU of the signalling channel, in octets without the L2CAP header.
    ///
    /// Every device supports this MTU.
    package static let minimumMTU = 23

    package let identifier: SignalIdentifier
    package let signal: Signal

    package init(_ signal: Signal, identifier: SignalIdentifier) {
        self.identifier = identifier
        self.signal = signal
    }

    /// Decodes the payload of one L2CAP packet on the signalling channel.
    ///
    /// A packet with an unknown code is not an error, because it needs a response. Its contents are
    /// ``Signal/unknown(code:data:)``.
    ///
    /// - Throws: ``PacketError/reserved(field:)`` for the identifier 0x00; ``PacketError/truncated(field:)`` or
    ///   ``PacketError/trailing(count:)`` if the length in the header does not match the data.
    package init(decoding bytes: Span<UInt8>) throws(PacketError) {
        var decoder = PacketDecoder(bytes)
        let header = try Header(from: &decoder)
        guard Int(header.length) <= decoder.remaining else { throw .truncated(field: "Data") }
        guard Int(header.length) == decoder.remaining else {
            throw .trailing(count: decoder.remaining - Int(header.length))
        }
        identifier = header.identifier
        signal = try Signal(header.code, data: decoder.unread)
    }

    /// Decodes the payload of one L2CAP packet on the signalling channel.
    package init(decoding bytes: [UInt8]) throws(PacketError) { try self.init(decoding: bytes.span) }

    /// Appends the encoded packet to `encoder`.
    package func encode(into encoder: inout PacketEncoder) {
        var scratch = PacketEncoder()
        do { try signal.walk(&scratch) } catch { preconditionFailure("cannot encode \(self): \(error)") }
        encoder.append(header(length: scratch.bytes.count))
        encoder.append(contentsOf: scratch.bytes)
    }

    /// The encoded packet.
    package var encoded: [UInt8] {
        var encoder = PacketEncoder()
        encode(into: &encoder)
        return encoder.bytes
    }

    /// The fields of this packet, starting with its header.
    package var dissection: DissectedLayer {
        var scratch = PacketEncoder(), dissector = PacketDissector()
        do {
            try signal.walk(&scratch)
            var header = header(length: scratch.bytes.count)
            try header.layout(&dissector)
            try signal.walk(&dissector)
        } catch { preconditionFailure("cannot dissect \(self): \(error)") }
        return DissectedLayer(name: "L2CAP \(signal.code)", fields: dissector.fields)
    }

    private func header(length: Int) -> Header {
        guard let length = UInt16(exactly: length) else { preconditionFailure("a signal has at most 65535 octets") }
        return Header(code: signal.code, identifier: identifier, length: length)
    }

    private struct Header: Packet {
        var code = Signal.Code(wire: 0)
        var identifier = SignalIdentifier.first
        var length: UInt16 = 0

        mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&code, "Code")
            try wire.field(&identifier, "Identifier")
            try wire.integer(&length, "Data Length")
        }
    }
}
