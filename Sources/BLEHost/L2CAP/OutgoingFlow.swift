import BLEWire

/// What goes out on one credit-based channel: units of the owner, cut into packets, for each of which the peer gives a
/// credit.
///
/// A few packets at a time are handed down, so that channels can take turns, and so that little has to be dropped when
/// the channel is closed.
///
/// Core 6.0, Vol 3, Part A, 3.4.3 and 10.1.
struct OutgoingFlow {
    /// A packet that was handed down and waits for a buffer of the controller.
    private struct Packet {
        /// How many octets of a unit end with it; zero if it ends none.
        let octets: Int
    }

    /// How many packets are handed down at a time.
    static let depth = 4
    /// How many credits an end may have.
    static let creditLimit = 65535

    /// The largest unit that the peer takes, in octets.
    private(set) var mtu: Int
    /// The largest packet that the peer takes, in octets.
    private(set) var mps: Int
    /// The largest packet that this end cares to send.
    private let ceiling: Int
    private(set) var credits: Int
    private var units = Fifo<[UInt8]>()
    /// How much of the first unit has been handed down, in octets.
    private var offset = 0
    private var packets = Fifo<Packet>()
    /// How many octets wait here or for a buffer of the controller.
    private(set) var queued = 0

    /// Begins with a peer that takes these sizes and has given so many credits.
    init(mtu: Int, mps: Int, credits: Int, ceiling: Int) {
        self.mtu = mtu
        self.mps = mps
        self.ceiling = ceiling
        self.credits = credits
    }

    /// Whether everything has been handed to the controller.
    var isEmpty: Bool { units.isEmpty && packets.isEmpty }

    /// Whether something waits that the peer gives no credit for.
    var isStalled: Bool { !units.isEmpty && credits == 0 }

    enum OnGrant: Equatable {
        case granted
        /// No credits, which is no use and no harm.
        case nothing
        /// More than there can be, for which the channel is to be closed.
        case overflow
    }

    /// Takes credits of the peer.
    mutating func grant(_ count: Int) -> OnGrant {
        guard count > 0 else { return .nothing }
        guard count <= Self.creditLimit - credits else { return .overflow }
        credits += count
        return .granted
    }

    /// Takes a unit, which must fit ``mtu``.
    mutating func append(_ unit: [UInt8]) {
        precondition(unit.count <= mtu, "a unit is at most as long as the peer takes")
        units.append(unit)
        queued += unit.count
    }

    /// Hands out the payload of the next packet, if there is a credit for it and room further down.
    mutating func next() -> [UInt8]? {
        guard credits > 0, packets.count < Self.depth, let unit = units.first else { return nil }
        var packet: [UInt8] = []
        let isFirst = offset == 0
        let end = min(unit.count, offset + min(mps, ceiling) - (isFirst ? 2 : 0))
        packet.reserveCapacity(2 + end - offset)
        if isFirst { packet += UInt16(truncatingIfNeeded: unit.count).littleEndianOctets }
        packet += unit[offset..<end]
        credits -= 1
        offset = end
        if end == unit.count {
            _ = units.popFirst()
            offset = 0
        }
        packets.append(Packet(octets: offset == 0 ? unit.count : 0))
        return packet
    }

    /// Notes that the controller has taken the packet handed down first of those that wait, and returns how many octets
    /// of units have gone with it.
    mutating func sent() -> Int {
        guard let packet = packets.popFirst() else { preconditionFailure("what was sent has been handed down") }
        queued -= packet.octets
        return packet.octets
    }

    /// Sends units and packets of at most these sizes from now on.
    mutating func resize(mtu: Int, mps: Int) { (self.mtu, self.mps) = (mtu, mps) }
}
