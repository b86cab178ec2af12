/// A whole packet of the interface between host and controller, taken apart.
package struct DissectedPacket: Equatable, Sendable {
    /// The layers of the packet, the outermost first, which cover its octets without a gap.
    ///
    /// What cannot be decoded is a layer named "malformed", with the reason as the name of its only field.
    package var layers: [DissectedLayer] = []
    /// The layers of what came in several pieces, of which this packet has brought the last; else none.
    package var completed: [DissectedLayer] = []
    /// What the packet is, in numbers.
    package var codes = Codes()

    /// Whether something in it could not be decoded.
    package var isMalformed: Bool { (layers + completed).contains { $0.isMalformed } }

    /// The numbers by which one tells packets apart, each `nil` in a packet without such a number.
    package struct Codes: Equatable, Sendable {
        package var type: HCI.PacketType?
        /// Of a command, and in an event of the command that it answers.
        package var opcode: HCI.Opcode?
        package var event: HCI.EventCode?
        package var subevent: HCI.LESubevent?
        /// The connections that the packet is about, in the order in which it names them.
        package var handles: [UInt16] = []
        package var attribute: ATT.Opcode?
        package var security: SMP.Opcode?
        package var signal: Signal.Code?
    }
}
