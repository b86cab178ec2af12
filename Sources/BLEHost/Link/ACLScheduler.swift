import BLEWire

/// The distribution of the controller's ACL buffers among links and their channels.
///
/// The scheduler splits packets into fragments of the buffer size. Links take turns by fragment, so that a long packet
/// on one link does not delay the others. The channels of a link take turns by packet, because the packets of a link
/// cannot be interleaved; signals go first. A buffer is occupied until the controller reports its completion or the
/// link ends.
///
/// Core 6.0, Vol 4, Part E, 4.1.1 (flow control) and Vol 3, Part A, 7.2.1 (fragmentation).
struct ACLScheduler {
    fileprivate struct Frame {
        let channel: ChannelIdentifier
        let payload: OutgoingPayload
        let receipt: SendReceipt?
    }

    private struct Queue {
        var channels = ChannelQueues<Frame>()
        /// The packet whose first part was already passed to the controller.
        private var begun: Frame?
        /// The number of octets of ``begun`` that were already passed to the controller.
        private var offset = 0
        /// The number of packets with a receipt that are queued on the ATT channel, except ``begun``.
        private var clientPackets = 0
        /// The number of controller buffers with fragments of this link.
        private(set) var occupied = 0
        /// The number of fragments passed to the controller so far, and its value after the security manager's latest
        /// fragment.
        private var submitted = 0, lastOfPairing = 0

        var isEmpty: Bool { begun == nil && channels.isEmpty }
        /// The number of queued packets, including one that is partly sent.
        var count: Int { channels.count + (begun == nil ? 0 : 1) }
        /// True if the controller has sent all of the security manager's packets.
        var hasSentPairing: Bool {
            let channel = ChannelIdentifier.securityManager
            return channels.count(on: channel) == 0 && begun?.channel != channel
                && submitted - occupied >= lastOfPairing
        }

        /// Queues a packet; returns `false` if too many are queued.
        ///
        /// See ``ACLScheduler/submit(_:on:of:receipt:)`` for the limits.
        mutating func append(_ frame: Frame, limit: Int) -> Bool {
            let isAttribute = frame.channel == .attribute
            if isAttribute, frame.receipt != nil {
                guard clientPackets < 4 * limit else { return false }
                clientPackets += 1
            } else if !frame.channel.isDynamic {
                let others = isAttribute ? clientPackets : 0
                guard channels.count(on: frame.channel) - others < limit else { return false }
            }
            channels.append(frame, on: frame.channel)
            return true
        }

        /// Drops the queued packets of a channel, except ``begun``, and returns how many there were.
        mutating func remove(_ channel: ChannelIdentifier) -> Int {
            if channel == .attribute { clientPackets = 0 }
            defer { channels.remove(channel) }
            return channels.count(on: channel)
        }

        /// Returns the next fragment of at most `size` octets; `nil` if nothing is queued.
        mutating func next(_ size: Int, of link: ConnectionHandle) -> Fragment? {
            if begun == nil {
                guard let first = channels.next() else { return nil }
                if first.receipt != nil, first.channel == .attribute { clientPackets -= 1 }
                guard first.payload.length > size else {
                    noteSubmitted(on: first.channel)
                    return Fragment(of: first, 0..<first.payload.length, on: link)
                }
                (begun, offset) = (first, 0)
            }
            guard let frame = begun else { return nil }
            let end = min(offset + size, frame.payload.length), range = offset..<end
            offset = end
            if end == frame.payload.length { begun = nil }
            noteSubmitted(on: frame.channel)
            return Fragment(of: frame, range, on: link)
        }

        /// Records that a fragment of a channel was passed to the controller.
        mutating func noteSubmitted(on channel: ChannelIdentifier) {
            noteSubmitted()
            if channel == .securityManager { lastOfPairing = submitted }
        }

        /// Records that a fragment of a channel other than the security manager's was passed to the controller.
        @inline(__always)
        mutating func noteSubmitted() {
            occupied += 1
            submitted += 1
        }

        /// Records completed fragments, at most as many as were passed to the controller; returns the number recorded.
        mutating func sent(_ count: Int) -> Int {
            let sent = min(count, occupied)
            occupied -= sent
            return sent
        }
    }

    /// A part of a queued packet that fits into one buffer of the controller, or the whole packet if it fits.
    struct Fragment {
        let link: ConnectionHandle
        let channel: ChannelIdentifier
        /// The payload that contains the fragment.
        let payload: OutgoingPayload
        /// The range of the fragment in the payload, including the L2CAP header.
        let range: Range<Int>
        /// The receipt of the packet that this fragment completes, if it has one.
        let receipt: SendReceipt?
        /// True if the fragment completes the packet.
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
    /// The number of queued packets of all links.
    private var waiting = 0
    private let queueLimit: Int

    /// Creates a scheduler without buffers; see ``reset(size:count:)``.
    init(queueLimit: Int) {
        self.queueLimit = queueLimit
        size = 27
        free = 0
    }

    /// Restarts with `count` buffers of `size` octets and no links.
    mutating func reset(size: Int, count: Int) {
        precondition(size > 0 && count >= 0, "buffers must have a positive size")
        (self.size, free, turn, waiting) = (size, count, nil, 0)
        queues.removeAll()
    }

    mutating func linkUp(_ link: ConnectionHandle) { queues[link] = Queue() }

    /// Removes a link.
    ///
    /// Its queued packets are dropped, and its buffers are free because the controller has flushed them.
    mutating func linkDown(_ link: ConnectionHandle) {
        guard let queue = queues[link] else { return }
        free += queue.occupied
        waiting -= queue.count
        queues[link] = nil
    }

    /// Returns whether nothing is queued for a link and the controller has sent everything.
    func isIdle(_ link: ConnectionHandle) -> Bool {
        guard let index = queues.index(of: link) else { return true }
        return queues.values[index].isEmpty && queues.values[index].occupied == 0
    }

    /// Returns whether the controller has sent all packets from a link's security manager.
    ///
    /// If so, the peer's controller has received the packets, because the link layer acknowledges them.
    func hasSentPairing(_ link: ConnectionHandle) -> Bool {
        guard let index = queues.index(of: link) else { return false }
        return queues.values[index].hasSentPairing
    }

    enum OnSubmit: Equatable {
        /// The caller can send the packet immediately, in one fragment.
        case passed
        /// The packet waits; ``next()`` returns its fragments.
        case queued
        case noLink, limitReached
    }

    /// Queues the payload of an L2CAP packet.
    ///
    /// A packet that fits into a buffer bypasses the queues if a buffer is free and nothing is queued.
    ///
    /// The ATT packets with a receipt are the clients' write commands and values. The attribute layer limits those of
    /// each client (``Limits/queuedFramesOfClient``), so their limit here is only reached if very many clients use the
    /// link. Other packets of each fixed channel have a separate limit: requests and responses are few, but their loss
    /// would end the link. Credit-based channels limit their packets themselves, and none of their packets may be
    /// lost.
    mutating func submit(
        _ payload: OutgoingPayload,
        on channel: ChannelIdentifier,
        of link: ConnectionHandle,
        receipt: SendReceipt?
    ) -> OnSubmit {
        precondition(
            payload.length - L2CAPHeader.size <= Int(UInt16.max),
            "an L2CAP payload must have at most 65535 octets"
        )
        guard let index = queues.index(of: link) else { return .noLink }
        if hasRoom(for: 1, upTo: payload.length) {
            takeBuffer(at: index, on: channel)
            return .passed
        }
        return enqueue(Frame(channel: channel, payload: payload, receipt: receipt), at: index) ? .queued : .limitReached
    }

    /// Queues a packet; returns `false` if too many are queued.
    private mutating func enqueue(_ frame: Frame, at index: Int) -> Bool {
        guard queues.values[index].append(frame, limit: queueLimit) else { return false }
        waiting += 1
        return true
    }

    /// Returns whether `count` packets, each of at most `length` octets including the L2CAP header, can bypass the
    /// queues.
    func hasRoom(for count: Int, upTo length: Int) -> Bool { waiting == 0 && free >= count && length <= size }

    /// Takes a buffer for an ATT packet of at most `length` octets, including the L2CAP header.
    ///
    /// The packet bypasses the queues. Returns `false`, without side effects, if the packet cannot bypass them or the
    /// link does not exist.
    @inline(__always)
    mutating func reserveBuffer(for length: Int, of link: ConnectionHandle) -> Bool {
        guard hasRoom(for: 1, upTo: length), let index = queues.index(of: link) else { return false }
        queues.values[index].noteSubmitted()
        free -= 1
        turn = link
        return true
    }

    /// True if nothing is queued.
    var isEmpty: Bool { waiting == 0 }

    /// True if something is queued and a buffer is free.
    var maySend: Bool { waiting > 0 && free > 0 }

    /// Queues an ATT packet even if a buffer is free; returns `false`, without side effects, if too many are queued or
    /// the link does not exist.
    mutating func enqueue(_ payload: OutgoingPayload, of link: ConnectionHandle, receipt: SendReceipt) -> Bool {
        guard let index = queues.index(of: link) else { return false }
        return enqueue(Frame(channel: .attribute, payload: payload, receipt: receipt), at: index)
    }

    private mutating func takeBuffer(at index: Int, on channel: ChannelIdentifier) {
        queues.values[index].noteSubmitted(on: channel)
        free -= 1
        turn = queues.handle(at: index)
    }

    /// Drops the queued packets of a channel, except one that is already being sent.
    mutating func discard(_ channel: ChannelIdentifier, of link: ConnectionHandle) {
        queues.update(link) { queue in waiting -= queue.remove(channel) }
    }

    enum OnCompleted: Equatable {
        case freed
        /// The controller reported more completed fragments than it was given, so only this many are counted.
        case clamped(to: Int)
        case noLink
    }

    /// Records that `count` buffers of a link are free again.
    mutating func completed(_ count: Int, on link: ConnectionHandle) -> OnCompleted {
        guard let index = queues.index(of: link) else { return .noLink }
        let freed = queues.values[index].sent(count)
        free += freed
        return freed == count ? .freed : .clamped(to: freed)
    }

    /// Records that `count` buffers of a link are free again; returns `false`, without side effects, if the link
    /// occupied fewer or does not exist.
    mutating func completedExactly(_ count: Int, on link: ConnectionHandle) -> Bool {
        guard let index = queues.index(of: link), count <= queues.values[index].occupied else { return false }
        free += queues.values[index].sent(count)
        return true
    }

    /// Returns the next fragment to send; `nil` if nothing is queued or no buffer is free.
    mutating func next() -> Fragment? {
        guard maySend, let index = nextInTurn() else { return nil }
        let link = queues.handle(at: index)
        guard let fragment = queues.values[index].next(size, of: link) else { return nil }
        if fragment.isLast { waiting -= 1 }
        free -= 1
        turn = link
        return fragment
    }

    /// Returns the index of the next link with queued packets, after the link that sent last; `nil` if there is none.
    private func nextInTurn() -> Int? {
        let first = turn.flatMap { queues.index(after: $0) } ?? 0
        for step in 0..<queues.count {
            let index = (first + step) % queues.count
            if !queues.values[index].isEmpty { return index }
        }
        return nil
    }
}
