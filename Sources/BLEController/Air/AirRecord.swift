package import BLEWire

/// A record of one packet on the air, as an ideal sniffer would receive it.
///
/// The air calculates an exchange of packets when the exchange begins. So a record may be output some milliseconds
/// before its ``instant``, and records of different connections may be slightly out of order.
package struct AirRecord: Equatable, Sendable {
    /// One receiver's signal strength, and whether the packet arrived there.
    package struct Reception: Equatable, Sendable {
        package let receiver: ControllerID
        /// The signal strength, in dBm.
        package let strength: Int
        /// True if the packet did not arrive, because it was too weak, lost at random, or stopped by a partition.
        package let isLost: Bool
    }

    /// The time at which the packet starts.
    package let instant: Instant
    package let sender: ControllerID
    /// The channel: 0 to 36 for data and secondary advertising channels, 37 to 39 for primary advertising channels.
    package let channel: UInt8
    package let phy: AirPHY
    package let accessAddress: UInt32
    /// The header and the payload, without preamble and CRC.
    ///
    /// The payload is encrypted if the connection is encrypted.
    package let pdu: [UInt8]
    package let receptions: [Reception]
}
