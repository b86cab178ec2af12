import BLEWire

/// What comes in on one credit-based channel: SDUs of the peer, which come in K-frames, for each of which it needs a
/// credit of this end.
///
/// A window of credits is what bounds the memory: K-frames on their way and SDUs that nobody has consumed share it.
/// The SDU that is being collected, at most an MTU, does not count, or a peer with small K-frames could never end it.
///
/// Core 6.0, Vol 3, Part A, 3.4.3 and 10.1.
struct IncomingFlow {
    private enum State {
        /// The next K-frame begins an SDU.
        case between
        /// The beginning of an SDU is here, of which there must be so many octets.
        case collecting(length: Int)
    }

    /// An SDU that has been delivered.
    private struct DeliveredSDU {
        var octets: Int
        let credits: Int
    }

    /// The largest SDU that this end takes, in octets.
    private(set) var mtu: Int
    /// The largest K-frame that this end takes, in octets.
    private(set) var mps: Int
    /// How many K-frames may be on their way or wait to be consumed.
    let window: Int
    private var state = State.between
    /// What there is of the SDU that is being collected.
    private var sdu: [UInt8] = []
    /// How many more K-frames the peer may send.
    private(set) var credits: Int
    private var sdus = Fifo<DeliveredSDU>()
    /// How much of the window the SDUs take that have been delivered and not consumed.
    private var held = 0

    /// Begins with a peer that was told these sizes, and to send `window` K-frames at most.
    init(mtu: Int, mps: Int, window: Int) {
        precondition(0 < window && window <= Int(UInt16.max), "a peer is given at most 65535 credits")
        self.mtu = mtu
        self.mps = mps
        self.window = window
        credits = window
    }

    /// What a K-frame amounts to.
    enum OnReceive: Equatable {
        case incomplete
        /// An SDU is complete.
        case complete([UInt8])
        /// The peer broke the rules, for which the channel is to be closed.
        case broken(ChannelFault)
    }

    /// Takes the payload of one K-frame.
    mutating func receive(_ frame: Span<UInt8>) -> OnReceive {
        guard credits > 0 else { return .broken(.noCredit) }
        guard frame.count <= mps else { return .broken(.frameTooLong) }
        credits -= 1
        switch state {
        case .between:
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
        held += credits
        state = .between
        var whole: [UInt8] = []
        swap(&whole, &sdu)
        return .complete(whole)
    }

    /// Notes that the owner has no more use for that many octets, in the order in which they came.
    mutating func consume(_ octets: Int) {
        var rest = max(0, octets)
        while rest > 0, let first = sdus.first {
            if rest < first.octets { return sdus.update(0) { $0.octets -= rest } }
            rest -= first.octets
            held -= first.credits
            _ = sdus.popFirst()
        }
    }

    /// Takes SDUs and K-frames of at most these sizes from now on: the peer has agreed.
    mutating func resize(mtu: Int, mps: Int) { (self.mtu, self.mps) = (mtu, mps) }

    /// Hands out the credits to give the peer now; `nil` while they are too few to be worth a K-frame.
    mutating func replenish() -> UInt16? {
        let missing = window - held - credits
        guard missing > 0, credits == 0 || 2 * missing >= window else { return nil }
        credits += missing
        return UInt16(truncatingIfNeeded: missing)
    }
}
