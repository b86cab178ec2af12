import BLEWire

/// What comes in on one credit-based channel: units of the peer, which come in packets, for each of which it needs a
/// credit of this end.
///
/// A window of credits is what bounds the memory: packets on their way and units that nobody has consumed share it.
/// The unit that is being collected, at most an MTU, does not count, or a peer with small packets could never end it.
///
/// Core 6.0, Vol 3, Part A, 3.4.3 and 10.1.
struct IncomingFlow {
    private enum State {
        /// The next packet begins a unit.
        case between
        /// The beginning of a unit is here, of which there must be so many octets.
        case collecting(length: Int)
    }

    /// A unit that has been delivered.
    private struct Unit {
        var octets: Int
        let credits: Int
    }

    /// The largest unit that this end takes, in octets.
    private(set) var mtu: Int
    /// The largest packet that this end takes, in octets.
    private(set) var mps: Int
    /// How many packets may be on their way or wait to be consumed.
    let window: Int
    private var state = State.between
    /// What there is of the unit that is being collected.
    private var unit: [UInt8] = []
    /// How many more packets the peer may send.
    private(set) var credits: Int
    private var units = Fifo<Unit>()
    /// How much of the window the units take that have been delivered and not consumed.
    private var held = 0

    /// Begins with a peer that was told these sizes, and to send `window` packets at most.
    init(mtu: Int, mps: Int, window: Int) {
        precondition(0 < window && window <= Int(UInt16.max), "a peer is given at most 65535 credits")
        self.mtu = mtu
        self.mps = mps
        self.window = window
        credits = window
    }

    /// What a packet amounts to.
    enum OnReceive: Equatable {
        case incomplete
        /// A unit is complete.
        case complete([UInt8])
        /// The peer broke the rules, for which the channel is to be closed.
        case broken(ChannelFault)
    }

    /// Takes the payload of one packet.
    mutating func receive(_ packet: Span<UInt8>) -> OnReceive {
        guard credits > 0 else { return .broken(.noCredit) }
        guard packet.count <= mps else { return .broken(.packetTooLong) }
        credits -= 1
        switch state {
        case .between:
            guard packet.count >= 2 else { return .broken(.lengthMissing) }
            let length = Int(packet[0]) | Int(packet[1]) << 8
            guard length <= mtu else { return .broken(.unitTooLong) }
            let part = packet.extracting(droppingFirst: 2)
            unit.reserveCapacity(length)
            return collect(part, of: length)
        case .collecting(let length): return collect(packet, of: length)
        }
    }

    private mutating func collect(_ part: Span<UInt8>, of length: Int) -> OnReceive {
        guard part.count <= length - unit.count else { return .broken(.unitExceeded) }
        unit.append(copying: part)
        guard unit.count == length else {
            state = .collecting(length: length)
            return .incomplete
        }
        let credits = (length + mps - 1) / mps
        if credits > 0 { units.append(Unit(octets: length, credits: credits)) }
        held += credits
        state = .between
        var whole: [UInt8] = []
        swap(&whole, &unit)
        return .complete(whole)
    }

    /// Notes that the owner has no more use for that many octets, in the order in which they came.
    mutating func consume(_ octets: Int) {
        var rest = max(0, octets)
        while rest > 0, let first = units.first {
            if rest < first.octets { return units.updateFirst { $0.octets -= rest } }
            rest -= first.octets
            held -= first.credits
            _ = units.popFirst()
        }
    }

    /// Takes units and packets of at most these sizes from now on: the peer has agreed.
    mutating func resize(mtu: Int, mps: Int) { (self.mtu, self.mps) = (mtu, mps) }

    /// Hands out the credits to give the peer now; `nil` while they are too few to be worth a packet.
    mutating func replenish() -> UInt16? {
        let missing = window - held - credits
        guard missing > 0, credits == 0 || 2 * missing >= window else { return nil }
        credits += missing
        return UInt16(truncatingIfNeeded: missing)
    }
}
