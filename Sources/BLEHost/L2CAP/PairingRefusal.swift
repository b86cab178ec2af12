import BLEWire

/// The responses with which this host refuses to pair.
enum PairingRefusal {
    /// Pairing Failed with the reason Pairing Not Supported.
    static let refusal: [UInt8] = [0x05, 0x05]
    /// The opcodes of Pairing Request and Security Request, which need a response.
    private static let requests: [UInt8] = [0x01, 0x0B]

    /// Returns whether a packet is a Pairing Request.
    static func isPairingRequest(_ packet: Span<UInt8>) -> Bool { packet.count > 0 && packet[0] == 0x01 }

    /// Returns whether a Pairing Request says that the peer has this host's out-of-band data.
    static func showsOutOfBandData(_ packet: Span<UInt8>) -> Bool { packet.count > 2 && packet[2] == 0x01 }

    /// Returns the response to a packet; `nil` if the packet needs none.
    static func answer(to packet: Span<UInt8>) -> [UInt8]? {
        packet.count > 0 && requests.contains(packet[0]) ? refusal : nil
    }
}
