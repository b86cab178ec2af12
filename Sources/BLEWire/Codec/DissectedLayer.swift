/// One layer of a packet that was taken apart: its name, and its fields with the octets that each one takes.
///
/// What a monitor prints a line for and an explorer draws a box around. The ranges count from the first octet of the
/// layer, not of the packet that carries it.
package struct DissectedLayer: Equatable, Sendable {
    /// The protocol and the packet in it, such as "ATT Write Request".
    package let name: String
    /// The fields in wire order; together they cover the octets of the layer without a gap.
    package let fields: [PacketDissector.Field]

    package init(name: String, fields: [PacketDissector.Field]) {
        self.name = name
        self.fields = fields
    }
}
