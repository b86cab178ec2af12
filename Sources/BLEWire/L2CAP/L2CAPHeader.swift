/// The header of an L2CAP packet; ``length`` octets of payload follow it.
///
/// Core 6.0, Vol 3, Part A, 3.1.
@usableFromInline package struct L2CAPHeader: Packet {
    /// The length of the header, in octets.
    @inlinable package static var size: Int { 4 }

    /// The length of the payload, in octets.
    package var length: UInt16
    package var channel: ChannelIdentifier

    package init() { self.init(length: 0, channel: .none) }
    package init(length: UInt16, channel: ChannelIdentifier) {
        self.length = length
        self.channel = channel
    }

    @inline(__always)
    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.integer(&length, "PDU Length")
        try wire.field(&channel, "Channel ID")
    }
}

extension L2CAPHeader {
    /// Decodes a header from the front of `decoder`.
    package init(from decoder: inout PacketDecoder) throws(PacketError) {
        self.init()
        try layout(&decoder)
    }

    /// Appends this header to `encoder`.
    package func encode(into encoder: inout PacketEncoder) { encoder.append(self) }

    /// The fields of this header.
    package var dissection: DissectedLayer { DissectedLayer(name: "L2CAP", fields: dissected) }
}
