import BLEWire

/// The outgoing direction of a credit-based channel: SDUs are split into K-frames, and each K-frame needs a credit from
/// the peer.
///
/// Only a few K-frames are passed to the ACL queue (``ACLScheduler``) at a time, so that channels take turns, and few
/// K-frames have to be dropped when the channel is closed.
///
/// Core 6.0, Vol 3, Part A, 3.4.3 and 10.1.
struct OutgoingFlow {
    /// A K-frame that was passed to the ACL queue and waits for a controller buffer.
    private struct Frame {
        /// The length of the SDU that this K-frame completes, in octets; 0 if it completes none.
        let octets: Int
    }

    /// The maximum number of K-frames that wait in the ACL queue for a controller buffer.
    static let mostFramesInFlight = 4
    /// The maximum number of credits that the peer may have granted.
    static let creditLimit = 65535

    /// The peer's MTU, in octets.
    private(set) var mtu: Int
    /// The peer's MPS, in octets.
    private(set) var mps: Int
    /// The longest K-frame that this host sends, in octets.
    private let maximumFrame: Int
    private(set) var credits: Int
    private var sdus = Fifo<[UInt8]>()
    /// The number of the first SDU's octets that were already passed to the ACL queue.
    private var offset = 0
    private var frames = Fifo<Frame>()
    /// The total length, in octets, of the SDUs that the controller has not taken completely.
    private(set) var queued = 0

    /// Creates a flow to a peer that has announced these sizes and granted these credits.
    ///
    /// `maximumFrame` limits the K-frames that this host sends.
    init(mtu: Int, mps: Int, credits: Int, maximumFrame: Int) {
        self.mtu = mtu
        self.mps = mps
        self.maximumFrame = maximumFrame
        self.credits = credits
    }

    /// True if all data have been passed to the controller.
    var isEmpty: Bool { sdus.isEmpty && frames.isEmpty }

    /// True if data wait for credits from the peer.
    var isStalled: Bool { !sdus.isEmpty && credits == 0 }

    enum OnGrant: Equatable {
        case granted
        /// The peer granted no credits, which is harmless.
        case nothing
        /// The peer granted more credits than allowed: close the channel.
        case overflow
    }

    /// Adds the credits that the peer has granted.
    mutating func grant(_ count: Int) -> OnGrant {
        guard count > 0 else { return .nothing }
        guard count <= Self.creditLimit - credits else { return .overflow }
        credits += count
        return .granted
    }

    /// Queues an SDU of at most ``mtu`` octets.
    mutating func append(_ sdu: [UInt8]) {
        precondition(sdu.count <= mtu, "an SDU must not exceed the peer's MTU")
        sdus.append(sdu)
        queued += sdu.count
    }

    /// Returns the payload of the next K-frame; `nil` if there are no data or no credit, or if too many K-frames wait
    /// for a buffer.
    mutating func next() -> [UInt8]? {
        guard credits > 0, frames.count < Self.mostFramesInFlight, let sdu = sdus.first else { return nil }
        var frame: [UInt8] = []
        let isFirst = offset == 0
        let end = min(sdu.count, offset + min(mps, maximumFrame) - (isFirst ? 2 : 0))
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

    /// Records that the controller has taken the first pending K-frame; returns the length of the SDU that this frame
    /// completes, or 0.
    mutating func sent() -> Int {
        guard let frame = frames.popFirst() else { preconditionFailure("a sent frame is in the queue") }
        queued -= frame.octets
        return frame.octets
    }

    /// Sets the peer's new MTU and MPS.
    mutating func resize(mtu: Int, mps: Int) { (self.mtu, self.mps) = (mtu, mps) }
}
