import BLEWire

/// The outgoing direction of a credit-based channel: SDUs are split into K-frames, each of which needs a credit of the
/// peer.
///
/// Only a few K-frames are passed down at a time, so that channels take turns and little has to be dropped when the
/// channel is closed.
///
/// Core 6.0, Vol 3, Part A, 3.4.3 and 10.1.
struct OutgoingFlow {
    /// A K-frame that was passed down and waits for a controller buffer.
    private struct Frame {
        /// The length of the SDU that ends with it, in octets; zero if none does.
        let octets: Int
    }

    /// The maximum number of K-frames that are passed down.
    static let depth = 4
    /// The maximum number of credits.
    static let creditLimit = 65535

    /// The peer's MTU, in octets.
    private(set) var mtu: Int
    /// The peer's MPS, in octets.
    private(set) var mps: Int
    /// The largest K-frame that this end sends.
    private let ceiling: Int
    private(set) var credits: Int
    private var sdus = Fifo<[UInt8]>()
    /// The part of the first SDU that was passed down, in octets.
    private var offset = 0
    private var frames = Fifo<Frame>()
    /// The number of octets that wait here or for a controller buffer.
    private(set) var queued = 0

    /// Creates the flow with the peer's sizes and credits.
    init(mtu: Int, mps: Int, credits: Int, ceiling: Int) {
        self.mtu = mtu
        self.mps = mps
        self.ceiling = ceiling
        self.credits = credits
    }

    /// True if everything was passed to the controller.
    var isEmpty: Bool { sdus.isEmpty && frames.isEmpty }

    /// True if data wait for the peer's credits.
    var isStalled: Bool { !sdus.isEmpty && credits == 0 }

    enum OnGrant: Equatable {
        case granted
        /// No credits, which is harmless.
        case nothing
        /// More credits than allowed: close the channel.
        case overflow
    }

    /// Processes credits of the peer.
    mutating func grant(_ count: Int) -> OnGrant {
        guard count > 0 else { return .nothing }
        guard count <= Self.creditLimit - credits else { return .overflow }
        credits += count
        return .granted
    }

    /// Queues an SDU, which must fit ``mtu``.
    mutating func append(_ sdu: [UInt8]) {
        precondition(sdu.count <= mtu, "an SDU must not exceed the peer's MTU")
        sdus.append(sdu)
        queued += sdu.count
    }

    /// Returns the payload of the next K-frame, if there is a credit and room below.
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

    /// Records that the controller has taken the first pending K-frame; returns the SDU octets that are complete with
    /// it.
    mutating func sent() -> Int {
        guard let frame = frames.popFirst() else { preconditionFailure("a sent frame is in the queue") }
        queued -= frame.octets
        return frame.octets
    }

    /// Sets new sizes of the peer.
    mutating func resize(mtu: Int, mps: Int) { (self.mtu, self.mps) = (mtu, mps) }
}
