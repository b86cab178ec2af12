import BLEWire

/// Answers on the channel of the security manager for a host that does not pair.
///
/// Core 6.0, Vol 3, Part H, 3.5.5.
enum PairingRefusal {
    /// Pairing Failed, for the reason Pairing Not Supported.
    private static let refusal: [UInt8] = [0x05, 0x05]
    /// Pairing Request and Security Request, which call for an answer.
    private static let requests: [UInt8] = [0x01, 0x0B]

    /// What to answer to a packet of the peer; `nil` if it calls for nothing.
    static func answer(to packet: Span<UInt8>) -> [UInt8]? {
        packet.count > 0 && requests.contains(packet[0]) ? refusal : nil
    }
}
