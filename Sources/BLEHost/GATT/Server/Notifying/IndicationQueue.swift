package import BLEWire

/// The queue of indications on one bearer.
///
/// Indications are sent one at a time, and the peer has to confirm each within 30 s.
///
///                 submit                      confirmed, queue empty
///        ┌──────┐ ─────▶ ┌──────────────────┐ ──────────────────────▶ idle
///        │ idle │        │ awaiting, queue  │ ── confirmed, waiting ─▶ awaiting
///        └──────┘        └──────────────────┘ ── timed out ──────────▶ dead
///
/// Core 6.0, Vol 3, Part F, 3.3.2, 3.3.3 and 3.4.7.2.
package struct IndicationQueue: Sendable {
    /// The content of an indication.
    package enum Item: Equatable, Sendable {
        /// The value of a characteristic; `update` is the update that the value belongs to, if any.
        case value(AttributeHandle, [UInt8], update: UnsentUpdates.Number?)
        /// Services in this range have changed. The handle is that of the Service Changed value.
        case serviceChanged(AttributeHandle, AttributeHandleRange)

        fileprivate var isValue: Bool {
            if case .value = self { true } else { false }
        }

        fileprivate func isValue(of handle: AttributeHandle) -> Bool {
            if case .value(handle, _, _) = self { true } else { false }
        }

        /// Returns whether this indication and `other` belong to updates of the same client, or both to no update.
        fileprivate func isOfSameClient(as other: Self) -> Bool {
            switch (update, other.update) {
            case (let number?, let other?): number.isOfSameClient(as: other)
            case (nil, nil): true
            case (nil, _?), (_?, nil): false
            }
        }

        /// Returns the packet, with its value truncated to fit; `mtu` is the MTU of the bearer in octets.
        package func packet(mtu: Int) -> ATTPacket {
            switch self {
            case .value(let handle, let value, _):
                .indication(.init(handle: handle, value: [UInt8](value.prefix(ATT.roomForValue(mtu: mtu)))))
            case .serviceChanged(let handle, let range):
                .indication(
                    .init(
                        handle: handle,
                        value: range.start.wire.littleEndianOctets + range.end.wire.littleEndianOctets
                    )
                )
            }
        }
    }

    private enum State: Sendable {
        case idle
        case awaiting(Item, deadline: Instant)
        case dead
    }

    private let limit: Int
    private var state = State.idle
    private var waiting: [Item] = []

    /// Creates a queue with a capacity of `limit` indications per client.
    package init(limit: Int) { self.limit = limit }

    /// The time to call ``expire(at:)`` next; `nil` if nothing is due.
    package var deadline: Instant? {
        if case .awaiting(_, let deadline) = state { deadline } else { nil }
    }

    /// True if a Service Changed indication is queued or has not been confirmed.
    package var announcesChange: Bool {
        if case .awaiting(.serviceChanged, _) = state { return true }
        if case .serviceChanged? = waiting.first { return true }
        return false
    }

    /// True if values wait until an indication is confirmed.
    package var holdsValues: Bool {
        guard case .awaiting = state else { return false }
        return waiting.contains { $0.isValue }
    }

    package enum OnSubmit: Equatable {
        case send
        case wait
        /// The client has too many queued indications, or the peer has failed to confirm one.
        case refuse
    }

    /// Sends an indication or queues it.
    ///
    /// Service Changed goes to the front of the queue, or is merged with one that is already there.
    package mutating func submit(_ item: Item, at now: Instant) -> OnSubmit {
        switch state {
        case .idle:
            state = .awaiting(item, deadline: now + ATT.transactionTimeout)
            return .send
        case .awaiting:
            if case .serviceChanged(let handle, let new) = item {
                if case .serviceChanged(_, let old)? = waiting.first, let joined = old.joined(with: new) {
                    waiting[0] = .serviceChanged(handle, joined)
                } else {
                    waiting.insert(item, at: 0)
                }
                return .wait
            }
            guard waiting.count < limit || waiting.count(where: item.isOfSameClient) < limit else { return .refuse }
            waiting.append(item)
            return .wait
        case .dead: return .refuse
        }
    }

    package enum OnConfirm: Equatable {
        /// The peer has confirmed an indication; `next` is the one to send now.
        case confirmed(Item, next: Item?)
        /// No confirmation is outstanding.
        case ignored
    }

    /// Processes a confirmation from the peer, and returns the confirmed indication and the next one to send.
    package mutating func confirm(at now: Instant) -> OnConfirm {
        guard case .awaiting(let item, _) = state else { return .ignored }
        guard !waiting.isEmpty else {
            state = .idle
            return .confirmed(item, next: nil)
        }
        let next = waiting.removeFirst()
        state = .awaiting(next, deadline: now + ATT.transactionTimeout)
        return .confirmed(item, next: next)
    }

    package enum OnExpire: Equatable {
        case nothing
        case abandon
    }

    /// Closes the queue if the peer has not confirmed an indication in time.
    package mutating func expire(at now: Instant) -> OnExpire {
        guard case .awaiting(_, let deadline) = state, deadline <= now else { return .nothing }
        state = .dead
        return .abandon
    }

    /// Removes and returns the unsent values.
    package mutating func removeValues() -> [Item] {
        let values = waiting.filter { $0.isValue }
        waiting.removeAll { $0.isValue }
        return values
    }

    /// Removes and returns the unsent values of one attribute.
    package mutating func removeValues(of handle: AttributeHandle) -> [Item] {
        let values = waiting.filter { $0.isValue(of: handle) }
        waiting.removeAll { $0.isValue(of: handle) }
        return values
    }
}
