package import BLEWire

/// One packet on the air, as seen by a sniffer that receives everything.
///
/// An exchange is calculated when it begins, so a record may be output some milliseconds before its ``instant``, and
/// records of different connections may be slightly out of order.
package struct AirRecord: Equatable, Sendable {
    /// The reception of the packet at one receiver.
    package struct Reception: Equatable, Sendable {
        package let receiver: ControllerID
        /// In dBm.
        package let strength: Int
        /// True if the packet did not arrive: too weak, lost, or separated by a partition.
        package let isLost: Bool
    }

    /// The start of the packet.
    package let instant: Instant
    package let sender: ControllerID
    /// 0 to 36 for data and secondary advertising channels, 37 to 39 for primary ones.
    package let channel: UInt8
    package let phy: AirPHY
    package let accessAddress: UInt32
    /// Header and payload, without preamble and CRC; encrypted if the connection is.
    package let pdu: [UInt8]
    package let receptions: [Reception]
}
