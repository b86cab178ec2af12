/// The lengths of values that fit one ATT packet, in octets.
///
/// A value travels in one L2CAP packet, together with seven octets of headers. The link layer divides the L2CAP packet
/// into link-layer packets of at most 251 octets. A value that is a little too long for two of these, for example,
/// needs a third. Besides its payload, each link-layer packet takes the time of about 97 octets of data on the 2M PHY,
/// for its headers, its acknowledgement and pauses.
enum ValueLength {
    /// The maximum length of any attribute value.
    static let longest = 512
    /// The headers of a command or notification: three octets of ATT and four of L2CAP.
    private static let headers = 7
    /// The time that a link-layer packet takes in addition to its payload, in octets on the 2M PHY: 44 µs for its own
    /// headers, 44 µs for the acknowledgement, and two pauses of 150 µs.
    ///
    /// Core 6.0, Vol 6, Part B, 2.1 and 4.1.1.
    private static let overhead = 97
    /// The maximum payload of a link-layer packet on most links with a long MTU.
    private static let longestPacket = 251

    /// Returns the maximum length of a value that fits one ATT packet with this MTU.
    static func longest(mtu: Int) -> Int { min(longest, max(0, mtu - 3)) }

    /// Returns the length with which a stream of values is fastest; `packet` is the maximum payload of a link-layer
    /// packet.
    ///
    /// This is the maximum length with this MTU, or the longest length that needs one fewer link-layer packet.
    ///
    /// A `packet` of at most 27 octets is treated as 251, because devices agree on longer packets only after they have
    /// connected. If they never do, the result is at most 2 % slower than the best length.
    static func fastest(mtu: Int, packet: Int = longestPacket) -> Int {
        let longest = longest(mtu: mtu), packet = packet > 27 ? packet : longestPacket
        let filled = (longest + headers) / packet
        guard filled > 0 else { return longest }
        let shorter = filled * packet - headers
        guard shorter < longest else { return longest }
        // Octets per time: shorter / (filled packets) against longest / (filled + 1 packets).
        let time = filled * packet + filled * overhead, longerTime = longest + headers + (filled + 1) * overhead
        return shorter * longerTime > longest * time ? shorter : longest
    }
}
