import BLEWire

/// What goes out on one credit-based channel: SDUs of the owner, cut into K-frames, for each of which the peer gives a
/// credit.
///
/// A few K-frames at a time are handed down, so that channels can take turns, and so that little has to be dropped when
/// the channel is closed.
///
/// Core 6.0, Vol 3, Part A, 3.4.3 and 10.1.
struct OutgoingFlow {
    /// A K-frame that was handed down and waits for a buffer of the controller.
    private struct Frame {
        /// How many octets of an SDU end with it; zero if it ends none.
        let octets: Int
    }

    /// How many K-frames are handed down at a time.
    static let depth = 4
    /// How many credits an end may have.
    static let creditLimit = 65535

    /// The largest SDU that the peer takes, in octets.
    private(set) var mtu: Int
    /// The largest K-frame that the peer takes, in octets.
    private(set) var mps: Int
    /// The largest K-frame that this end cares to send.
    private let ceiling: Int
    private(set) var credits: Int
    private var sdus = Fifo<[UInt8]>()
    /// How much of the first SDU has been handed down, in octets.
    private var offset = 0
    private var frames = Fifo<Frame>()
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
    var isEmpty: Bool { sdus.isEmpty && frames.isEmpty }

    /// Whether something waits that the peer gives no credit for.
    var isStalled: Bool { !sdus.isEmpty && credits == 0 }

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

    /// Takes an SDU, which must fit ``mtu``.
    mutating func append(_ sdu: [UInt8]) {
        precondition(sdu.count <= mtu, "an SDU is at most as long as the peer takes")
        sdus.append(sdu)
        queued += sdu.count
    }

    /// Hands out the payload of the next K-frame, if there is a credit for it and room further down.
    mutating func next() -> [UInt8]? {
        guard credits > 0, frames.count < Self.depth, let sdu = sdus.first else { return nil }
        var frame: [UInt8] = []
        let isFirst = offset == 0
        let end = min(sdu.count, offset + min(mps, ceiling) - (isFirst ? 2 : 0))
        frame.reserveCapacity(2 + end - offset)
        if isFirst { frame += UInt16(truncatingIfNeeded: sdu.count).littleEndianOctets }
        frame += sdu[offset..<end]
        credits -= 1
        offset = end
        if end == sdu.count {
            _ = sdus.popFirst()
            offset = 0
        }
        frames.append(Frame(octets: offset == 0 ? sdu.count : 0))
        return frame
    }

    /// Notes that the controller has taken the K-frame handed down first of those that wait, and returns how many
    /// octets of SDUs have gone with it.
    mutating func sent() -> Int {
        guard let frame = frames.popFirst() else { preconditionFailure("what was sent has been handed down") }
        queued -= frame.octets
        return frame.octets
    }

    /// Sends SDUs and K-frames of at most these sizes from now on.
    mutating func resize(mtu: Int, mps: Int) { (self.mtu, self.mps) = (mtu, mps) }
}
