import BLEWire

/// Shares the controller's buffers for ACL data between the links, and what a link gets between its channels.
///
/// Packets are cut into fragments of the size of one buffer. Links take turns fragment by fragment, so that a long
/// packet on one does not hold up the others; the channels of a link take turns packet by packet, since a packet cannot
/// be interrupted, and signals go first. A buffer counts as taken until the controller says that it is free, or until
/// the link is gone.
///
/// Core 6.0, Vol 4, Part E, 4.1.1 (flow control) and Vol 3, Part A, 7.2.1 (fragmentation).
struct ACLScheduler {
    fileprivate struct Frame {
        let channel: ChannelIdentifier
        let payload: OutgoingPayload
        let receipt: SendReceipt?
    }

    private struct Queue {
        var lanes = ChannelLanes<Frame>()
        /// The packet of which a part is with the controller already.
        private var begun: Frame?
        /// How much of it that is, in octets.
        private var offset = 0
        /// Buffers of the controller that hold fragments of this link.
        private(set) var taken = 0
        /// How many fragments the controller was given, and how many when the last was one of the security manager's.
        private var given = 0, lastOfPairing = 0

        var isEmpty: Bool { begun == nil && lanes.isEmpty }
        /// How many packets wait, one that has begun among them.
        var count: Int { lanes.count + (begun == nil ? 0 : 1) }
        /// Whether all that the security manager had to say has been sent.
        var hasSentPairing: Bool {
            let channel = ChannelIdentifier.securityManager
            return lanes.count(on: channel) == 0 && begun?.channel != channel && given - taken >= lastOfPairing
        }

        /// Hands out the next fragment, of at most `size` octets.
        mutating func next(_ size: Int, of link: ConnectionHandle) -> Fragment? {
            if begun == nil {
                guard let first = lanes.next() else { return nil }
                guard first.payload.length > size else {
                    give(on: first.channel)
                    return Fragment(of: first, 0..<first.payload.length, on: link)
                }
                (begun, offset) = (first, 0)
            }
            guard let frame = begun else { return nil }
            let end = min(offset + size, frame.payload.length), range = offset..<end
            offset = end
            if end == frame.payload.length { begun = nil }
            give(on: frame.channel)
            return Fragment(of: frame, range, on: link)
        }

        /// A fragment of a channel is with the controller now.
        mutating func give(on channel: ChannelIdentifier) {
            give()
            if channel == .securityManager { lastOfPairing = given }
        }

        /// A fragment is with the controller now, of another channel than the security manager's.
        @inline(__always)
        mutating func give() {
            taken += 1
            given += 1
        }

        /// The controller has sent so many fragments, or as many as it was given.
        mutating func sent(_ count: Int) -> Int {
            let sent = min(count, taken)
            taken -= sent
            return sent
        }
    }

    /// One fragment that may go out.
    struct Fragment {
        let link: ConnectionHandle
        let channel: ChannelIdentifier
        /// What it is a part of.
        let payload: OutgoingPayload
        /// Where it is in that, with the L2CAP header.
        let range: Range<Int>
        /// The receipt of the packet that is complete with this fragment, if it has one.
        let receipt: SendReceipt?
        /// Whether the packet is complete with it.
        fileprivate let isLast: Bool

        fileprivate init(of frame: Frame, _ range: Range<Int>, on link: ConnectionHandle) {
            (self.link, channel, payload, self.range) = (link, frame.channel, frame.payload, range)
            isLast = range.upperBound == frame.payload.length
            receipt = isLast ? frame.receipt : nil
        }
    }

    private var queues = ConnectionTable<Queue>()
    private var size: Int
    private var free: Int
    private var turn: ConnectionHandle?
    /// How many packets wait, of all links.
    private var waiting = 0
    private let queueLimit: Int

    /// Creates a scheduler for a controller with no buffers; ``reset(size:count:)`` gives it some.
    init(queueLimit: Int) {
        self.queueLimit = queueLimit
        size = 27
        free = 0
    }

    /// Starts anew with `count` buffers of `size` octets and no link.
    mutating func reset(size: Int, count: Int) {
        precondition(size > 0 && count >= 0, "a buffer holds something")
        (self.size, free, turn, waiting) = (size, count, nil, 0)
        queues.removeAll()
    }

    mutating func linkUp(_ link: ConnectionHandle) { queues[link] = Queue() }

    /// Forgets a link: what waits for it is dropped, and its buffers are free, as the controller has flushed them.
    mutating func linkDown(_ link: ConnectionHandle) {
        guard let queue = queues[link] else { return }
        free += queue.taken
        waiting -= queue.count
        queues[link] = nil
    }

    /// Whether nothing waits for a link, and the controller has sent all that it was given.
    func isIdle(_ link: ConnectionHandle) -> Bool {
        guard let index = queues.index(of: link) else { return true }
        return queues.values[index].isEmpty && queues.values[index].taken == 0
    }

    /// Whether the controller has sent all that the security manager of a link had to say.
    ///
    /// The peer's controller has it then, by the acknowledgement of the link layer.
    func hasSentPairing(_ link: ConnectionHandle) -> Bool {
        guard let index = queues.index(of: link) else { return false }
        return queues.values[index].hasSentPairing
    }

    enum OnSubmit: Equatable {
        /// It may go out at once, in one packet.
        case passed
        /// Its fragments are handed out when it is their turn.
        case queued
        case noLink, limitReached
    }

    /// Takes the payload of one L2CAP packet.
    ///
    /// One that fits a buffer goes past all queues if there is a buffer and nothing waits for one.
    /// On each fixed channel, packets with a receipt, which somebody may have many of, leave as much room again for
    /// those without: requests and answers, of which there are few, and whose loss would end the link. Credit-based
    /// channels hand down few packets at a time by themselves, of which none may be lost.
    mutating func submit(
        _ payload: OutgoingPayload,
        on channel: ChannelIdentifier,
        of link: ConnectionHandle,
        receipt: SendReceipt?
    ) -> OnSubmit {
        precondition(
            payload.length - L2CAPHeader.size <= Int(UInt16.max),
            "the payload of an L2CAP packet has at most 65535 octets"
        )
        guard let index = queues.index(of: link) else { return .noLink }
        if hasRoom(for: 1, upTo: payload.length) {
            give(at: index, on: channel)
            return .passed
        }
        return wait(Frame(channel: channel, payload: payload, receipt: receipt), at: index) ? .queued : .limitReached
    }

    /// Has a packet wait for its turn; `false` if too many do.
    private mutating func wait(_ frame: Frame, at index: Int) -> Bool {
        let channel = frame.channel, limit = frame.receipt == nil ? 2 * queueLimit : queueLimit
        guard channel.isDynamic || queues.values[index].lanes.count(on: channel) < limit else { return false }
        queues.values[index].lanes.append(frame, on: channel)
        waiting += 1
        return true
    }

    /// Whether so many packets, each of at most `length` octets with its L2CAP header, can go past all queues.
    func hasRoom(for count: Int, upTo length: Int) -> Bool { waiting == 0 && free >= count && length <= size }

    /// Takes a buffer for a packet of attributes, of at most `length` octets with its L2CAP header, that goes past all
    /// queues; `false`, and nothing happens, if it cannot, or there is no such link.
    @inline(__always)
    mutating func pass(_ length: Int, of link: ConnectionHandle) -> Bool {
        guard hasRoom(for: 1, upTo: length), let index = queues.index(of: link) else { return false }
        queues.values[index].give()
        free -= 1
        turn = link
        return true
    }

    /// Whether nothing waits for a buffer.
    var isEmpty: Bool { waiting == 0 }

    /// Whether something waits for which there is a buffer.
    var maySend: Bool { waiting > 0 && free > 0 }

    /// Has a packet of attributes wait for its turn, although there may be a buffer for it; `false`, and nothing
    /// happens, if too many do, or there is no such link.
    mutating func wait(_ payload: OutgoingPayload, of link: ConnectionHandle, receipt: SendReceipt) -> Bool {
        guard let index = queues.index(of: link) else { return false }
        return wait(Frame(channel: .attribute, payload: payload, receipt: receipt), at: index)
    }

    private mutating func give(at index: Int, on channel: ChannelIdentifier) {
        queues.values[index].give(on: channel)
        free -= 1
        turn = queues.handle(at: index)
    }

    /// Drops what waits on a channel, but for the packet that has begun.
    mutating func discard(_ channel: ChannelIdentifier, of link: ConnectionHandle) {
        queues.update(link) { queue in
            waiting -= queue.lanes.count(on: channel)
            queue.lanes.remove(channel)
        }
    }

    enum OnCompleted: Equatable {
        case freed
        /// The controller claims to have sent more than it was given; what it was given counts.
        case clamped(to: Int)
        case noLink
    }

    /// The controller has `count` buffers of the link free again.
    mutating func completed(_ count: Int, on link: ConnectionHandle) -> OnCompleted {
        guard let index = queues.index(of: link) else { return .noLink }
        let freed = queues.values[index].sent(count)
        free += freed
        return freed == count ? .freed : .clamped(to: freed)
    }

    /// The controller has so many buffers of the link free again; `false`, and nothing happens, if it was not given as
    /// many.
    mutating func completedExactly(_ count: Int, on link: ConnectionHandle) -> Bool {
        guard let index = queues.index(of: link), count <= queues.values[index].taken else { return false }
        free += queues.values[index].sent(count)
        return true
    }

    /// Returns the fragment that is next, if a buffer is free for it.
    mutating func next() -> Fragment? {
        guard maySend, let index = nextInTurn() else { return nil }
        let link = queues.handle(at: index)
        guard let fragment = queues.values[index].next(size, of: link) else { return nil }
        if fragment.isLast { waiting -= 1 }
        free -= 1
        turn = link
        return fragment
    }

    /// Where the first link is, after the one that had its turn last, for which something waits.
    private func nextInTurn() -> Int? {
        let first = turn.flatMap { queues.index(after: $0) } ?? 0
        for step in 0..<queues.count {
            let index = (first + step) % queues.count
            if !queues.values[index].isEmpty { return index }
        }
        return nil
    }
}
