import BLEWire

/// The responses of a host without pairing.
///
/// Core 6.0, Vol 3, Part H, 3.5.5.
enum PairingRefusal {
    /// Pairing Failed with the reason Pairing Not Supported.
    static let refusal: [UInt8] = [0x05, 0x05]
    /// Pairing Request and Security Request, which need a response.
    private static let requests: [UInt8] = [0x01, 0x0B]

    /// Returns whether a packet of the peer begins a pairing.
    static func isPairingRequest(_ packet: Span<UInt8>) -> Bool { packet.count > 0 && packet[0] == 0x01 }

    /// Returns whether a peer that begins a pairing says that it was told something out of band.
    static func isInformed(_ packet: Span<UInt8>) -> Bool { packet.count > 2 && packet[2] == 0x01 }

    /// Returns the response to a packet; `nil` if it needs none.
    static func answer(to packet: Span<UInt8>) -> [UInt8]? {
        packet.count > 0 && requests.contains(packet[0]) ? refusal : nil
    }
}
