package import BLEWire

/// One packet on the air, as a sniffer would see it that stands everywhere at once.
///
/// An exchange is worked out when it begins, so a record may come up to some milliseconds before its ``instant``, and
/// records of different connections not quite in the order of theirs.
package struct AirRecord: Equatable, Sendable {
    /// What became of the packet at one receiver that was listening for it.
    package struct Reception: Equatable, Sendable {
        package let receiver: ControllerID
        /// In dBm.
        package let strength: Int
        /// Whether the receiver did not get it: too faint, disturbed, or kept apart.
        package let isLost: Bool
    }

    /// When the packet began.
    package let instant: Instant
    package let sender: ControllerID
    /// 0 to 36 for data and secondary advertising channels, 37 to 39 for primary ones.
    package let channel: UInt8
    package let phy: AirPHY
    package let accessAddress: UInt32
    /// Header and payload, without preamble and CRC; encrypted where the connection is.
    package let pdu: [UInt8]
    package let receptions: [Reception]
}
