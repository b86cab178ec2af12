/// A decoded HCI packet with all its layers.
package struct DissectedPacket: Equatable, Sendable {
    /// The layers of the packet, outermost first.
    ///
    /// Together they cover all octets of the packet.
    ///
    /// A part that cannot be decoded is a layer named "malformed", and the name of the layer's only field is the
    /// reason. If the capture cut the packet short, the last layer is named "cut".
    package var layers: [DissectedLayer] = []
    /// The layers of a reassembled packet, if this packet contains the last fragment of one; otherwise empty.
    package var completed: [DissectedLayer] = []
    /// The codes in the packet, for filters.
    package var codes = Codes()

    /// True if a part of the packet could not be decoded.
    package var isMalformed: Bool { (layers + completed).contains { $0.isMalformed } }

    /// True if the capture contains only the beginning of the packet.
    package var isCut: Bool { layers.contains { $0.isCut } }

    /// The codes that identify the kind of a packet; a code is `nil` if the packet does not have it.
    package struct Codes: Equatable, Sendable {
        package var type: HCI.PacketType?
        /// The opcode of the command, or of the command that an event responds to.
        package var opcode: HCI.Opcode?
        package var event: HCI.EventCode?
        package var subevent: HCI.LESubevent?
        /// The connection handles in the packet, in order.
        package var handles: [UInt16] = []
        package var attribute: ATT.Opcode?
        package var security: SMP.Opcode?
        package var signal: Signal.Code?
    }
}
