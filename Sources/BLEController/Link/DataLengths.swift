import BLEWire

/// The packet lengths that this end supports, that its peer supports, and that apply as a result.
///
/// Core 6.0, Vol 6, Part B, 4.5.10.
struct DataLengths: Sendable {
    /// The lengths that this end supports, which it announces to its peer.
    private(set) var local = LL.Lengths()
    private var remote = LL.Lengths()
    /// The lengths that apply: in each direction the smaller of the sender's and the receiver's.
    private(set) var effective = LL.Lengths()

    /// Creates the packet lengths of an end that has not received its peer's lengths yet.
    ///
    /// - Parameter canExtend: True if the controller supports Data Length Extension, and can therefore receive packets
    ///   of the maximum length.
    init(canExtend: Bool) {
        guard canExtend else { return }
        local.receiveOctets = 251
        local.receiveTime = 17_040
    }

    /// Sets the maximum length in octets and the maximum duration in microseconds of the packets that this end sends.
    ///
    /// Both values are clamped to their valid ranges.
    mutating func suggest(octets: UInt16, time: UInt16) {
        local.transmitOctets = min(max(octets, 27), 251)
        local.transmitTime = min(max(time, 328), 17_040)
    }

    /// Processes the peer's lengths, and returns whether ``effective`` has changed.
    mutating func receive(_ lengths: LL.Lengths) -> Bool {
        remote.receiveOctets = min(max(lengths.receiveOctets, 27), 251)
        remote.receiveTime = min(max(lengths.receiveTime, 328), 17_040)
        remote.transmitOctets = min(max(lengths.transmitOctets, 27), 251)
        remote.transmitTime = min(max(lengths.transmitTime, 328), 17_040)
        let before = effective
        effective.transmitOctets = min(local.transmitOctets, remote.receiveOctets)
        effective.transmitTime = min(local.transmitTime, remote.receiveTime)
        effective.receiveOctets = min(local.receiveOctets, remote.transmitOctets)
        effective.receiveTime = min(local.receiveTime, remote.transmitTime)
        return effective != before
    }

    /// Returns the maximum number of data octets in a packet on `phy`, excluding a message integrity code of
    /// `codeLength` octets.
    func transmitLimit(_ phy: AirPHY, codeLength: Int) -> Int {
        // On a coded PHY a packet of 27 octets takes 2,704 µs, which is always allowed.
        min(
            Int(effective.transmitOctets),
            phy.longest(within: Int64(effective.transmitTime) * 1_000, codeLength)
        )
    }
}
