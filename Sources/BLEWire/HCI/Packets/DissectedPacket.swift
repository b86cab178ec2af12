/// A decoded HCI packet with all its layers.
package struct DissectedPacket: Equatable, Sendable {
    /// The layers of the packet, outermost first.
    ///
    /// They cover all of its octets.
    ///
    /// A part that cannot be decoded is a layer named "malformed"; the name of its only field is the reason. The
    /// missing end of a packet that a capture truncated is a layer named "cut".
    package var layers: [DissectedLayer] = []
    /// The layers of a reassembled packet whose last fragment is in this packet; otherwise empty.
    package var completed: [DissectedLayer] = []
    /// The numeric codes of the packet.
    package var codes = Codes()

    /// True if a part of the packet could not be decoded.
    package var isMalformed: Bool { (layers + completed).contains { $0.isMalformed } }

    /// True if the capture contains only the beginning of the packet.
    package var isCut: Bool { layers.contains { $0.isCut } }

    /// The codes by which packets are told apart; `nil` for codes that a packet does not have.
    package struct Codes: Equatable, Sendable {
        package var type: HCI.PacketType?
        /// The opcode of a command, or of the command that an event responds to.
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
