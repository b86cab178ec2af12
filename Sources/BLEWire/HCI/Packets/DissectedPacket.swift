/// A decoded HCI packet with all its layers.
package struct DissectedPacket: Equatable, Sendable {
    /// The layers of the packet, outermost first.
    ///
    /// What cannot be decoded is a layer named "malformed", with the reason as the name of its only field; the end of
    /// a packet that the capture did not keep whole is a layer named "cut".
    package var layers: [DissectedLayer] = []
    /// The layers of a reassembled packet whose last fragment is in this packet; otherwise empty.
    package var completed: [DissectedLayer] = []
    /// The numeric codes of the packet.
    package var codes = Codes()

    /// True if a part of the packet could not be decoded.
    package var isMalformed: Bool { (layers + completed).contains { $0.isMalformed } }

    /// Whether the capture kept only the beginning of the packet.
    package var isCut: Bool { layers.contains { $0.isCut } }

    /// The numbers by which one tells packets apart, each `nil` in a packet without such a number.
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
