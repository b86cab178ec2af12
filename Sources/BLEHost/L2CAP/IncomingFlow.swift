import BLEWire

/// The incoming direction of a credit-based channel: K-frames are joined into SDUs, and each K-frame needs a credit
/// from this host.
///
/// The credit window limits the memory: the K-frames that the peer may still send, and the SDUs that the owner has not
/// consumed, share the window. The incomplete SDU, at most one MTU, does not count, because otherwise a peer with small
/// K-frames could never complete it.
///
/// Core 6.0, Vol 3, Part A, 3.4.3 and 10.1.
struct IncomingFlow {
    private enum State {
        /// The next K-frame starts an SDU.
        case betweenSDUs
        /// An SDU of this length is incomplete.
        case collecting(length: Int)
    }

    /// An SDU that was delivered but is not completely consumed.
    private struct DeliveredSDU {
        var octets: Int
        let credits: Int
    }

    /// This host's MTU, in octets.
    private(set) var mtu: Int
    /// This host's MPS, in octets.
    private(set) var mps: Int
    /// The credit window: the maximum total of the K-frames that the peer may still send and those of unconsumed SDUs.
    let window: Int
    private var state = State.betweenSDUs
    /// The octets of the incomplete SDU.
    private var sdu: [UInt8] = []
    /// The number of further K-frames that the peer may send.
    private(set) var credits: Int
    private var sdus = Fifo<DeliveredSDU>()
    /// The part of ``window``, in K-frames of full size, that delivered but unconsumed SDUs occupy.
    private var unconsumed = 0

    /// Creates a flow with the sizes that this host has announced and the credits that it has granted.
    init(mtu: Int, mps: Int, window: Int) {
        precondition(0 < window && window <= Int(UInt16.max), "the window must be 1 to 65535 credits")
        self.mtu = mtu
        self.mps = mps
        self.window = window
        credits = window
    }

    /// The consequence of a K-frame.
    enum OnReceive: Equatable {
        case incomplete
        /// An SDU is complete.
        case complete([UInt8])
        /// The peer violated the protocol: close the channel.
        case broken(ChannelFault)
    }

    /// Processes the payload of a K-frame.
    mutating func receive(_ frame: Span<UInt8>) -> OnReceive {
        guard credits > 0 else { return .broken(.noCredit) }
        guard frame.count <= mps else { return .broken(.frameTooLong) }
        credits -= 1
        switch state {
        case .betweenSDUs:
            guard frame.count >= 2 else { return .broken(.lengthMissing) }
            let length = Int(frame[0]) | Int(frame[1]) << 8
            guard length <= mtu else { return .broken(.sduTooLong) }
            let part = frame.extracting(droppingFirst: 2)
            sdu.reserveCapacity(length)
            return collect(part, of: length)
        case .collecting(let length): return collect(frame, of: length)
        }
    }

    private mutating func collect(_ part: Span<UInt8>, of length: Int) -> OnReceive {
        guard part.count <= length - sdu.count else { return .broken(.sduExceeded) }
        sdu.append(copying: part)
        guard sdu.count == length else {
            state = .collecting(length: length)
            return .incomplete
        }
        let credits = (length + mps - 1) / mps
        if credits > 0 { sdus.append(DeliveredSDU(octets: length, credits: credits)) }
        unconsumed += credits
        state = .betweenSDUs
        var whole: [UInt8] = []
        swap(&whole, &sdu)
        return .complete(whole)
    }

    /// Records that the owner has consumed this many octets, beginning with the oldest.
    mutating func consume(_ octets: Int) {
        var rest = max(0, octets)
        while rest > 0, let first = sdus.first {
            if rest < first.octets { return sdus.update(0) { $0.octets -= rest } }
            rest -= first.octets
            unconsumed -= first.credits
            _ = sdus.popFirst()
        }
    }

    /// Sets this host's new MTU and MPS, which the peer has accepted.
    mutating func resize(mtu: Int, mps: Int) { (self.mtu, self.mps) = (mtu, mps) }

    /// Returns the number of credits to grant now; `nil` while too few are due to justify a packet.
    mutating func replenish() -> UInt16? {
        let missing = window - unconsumed - credits
        guard missing > 0, credits == 0 || 2 * missing >= window else { return nil }
        credits += missing
        return UInt16(truncatingIfNeeded: missing)
    }
}
