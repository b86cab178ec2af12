import BLEWire

/// How long the packets of one end may be: what it can do, what the other end can, and what follows.
///
/// Core 6.0, Vol 6, Part B, 4.5.10.
struct DataLengths: Sendable {
    /// What this end tells the other.
    private(set) var local = LL.Lengths()
    private var remote = LL.Lengths()
    /// What holds: the lesser of both, each way.
    private(set) var effective = LL.Lengths()

    /// - Parameter canExtend: Whether the controller has the Data Length Extension; it receives all that there is.
    init(canExtend: Bool) {
        guard canExtend else { return }
        local.receiveOctets = 251
        local.receiveTime = 17_040
    }

    /// What this end would send at most, whatever the other can take.
    mutating func suggest(octets: UInt16, time: UInt16) {
        local.transmitOctets = min(max(octets, 27), 251)
        local.transmitTime = min(max(time, 328), 17_040)
    }

    /// Takes what the other end said, and returns whether what holds has changed.
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

    /// The most octets that one packet may carry when it is sent with `phy`, and with a code that takes
    /// `codeLength` octets behind them.
    func transmitLimit(_ phy: AirPHY, codeLength: Int) -> Int {
        // On a coded PHY a packet of 27 octets takes 2 704 µs, which is always allowed.
        min(
            Int(effective.transmitOctets),
            phy.longest(within: Int64(effective.transmitTime) * 1_000, codeLength)
        )
    }
}
