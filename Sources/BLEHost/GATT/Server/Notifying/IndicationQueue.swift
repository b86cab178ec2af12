package import BLEWire

/// The indications of one link: one at a time, each confirmed within 30 s.
///
///                 submit                      confirmed, queue empty
///        ┌──────┐ ─────▶ ┌──────────────────┐ ──────────────────────▶ idle
///        │ idle │        │ awaiting, queue  │ ── confirmed, waiting ─▶ awaiting
///        └──────┘        └──────────────────┘ ── 30 s without ───────▶ dead
///
/// Core 6.0, Vol 3, Part F, 3.3.2, 3.3.3 and 3.4.7.2.
package struct IndicationQueue: Sendable {
    /// What is indicated.
    package enum Item: Equatable, Sendable {
        /// A value, for the update of this number if there is one.
        case value(AttributeHandle, [UInt8], update: UpdateLedger.Number?)
        /// That services in this range changed; `handle` is that of the value that says so.
        case serviceChanged(AttributeHandle, AttributeHandleRange)

        fileprivate var isValue: Bool {
            if case .value = self { true } else { false }
        }

        fileprivate func isValue(of handle: AttributeHandle) -> Bool {
            if case .value(handle, _, _) = self { true } else { false }
        }

        /// Whether one client asked for both.
        fileprivate func isOfSameClient(as other: Self) -> Bool {
            switch (update, other.update) {
            case (let number?, let other?): number.isOfSameClient(as: other)
            case (nil, nil): true
            case (nil, _?), (_?, nil): false
            }
        }

        /// The packet, cut off so that it fits `mtu`.
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

    /// Creates a queue in which at most `limit` indications of each client wait.
    package init(limit: Int) { self.limit = limit }

    /// When to call ``expire(at:)``, if nothing happens before.
    package var deadline: Instant? {
        if case .awaiting(_, let deadline) = state { deadline } else { nil }
    }

    /// Whether one that says that services changed has not been confirmed yet.
    package var tellsOfChange: Bool {
        if case .awaiting(.serviceChanged, _) = state { return true }
        if case .serviceChanged? = waiting.first { return true }
        return false
    }

    /// Whether values wait that will go out when others are confirmed.
    package var holdsValues: Bool {
        guard case .awaiting = state else { return false }
        return waiting.contains { $0.isValue }
    }

    package enum OnSubmit: Equatable {
        case send
        case wait
        /// Too many of its client wait, or the peer confirms nothing any more.
        case refuse
    }

    /// Takes an indication.
    ///
    /// One that says that services changed goes before all that wait, or is joined with one that waits.
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
        /// The first is confirmed; the second goes out now.
        case confirmed(Item, next: Item?)
        /// Nothing waits for a confirmation.
        case ignored
    }

    /// Takes a confirmation.
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

    /// Gives up if the confirmation is overdue.
    package mutating func expire(at now: Instant) -> OnExpire {
        guard case .awaiting(_, let deadline) = state, deadline <= now else { return .nothing }
        state = .dead
        return .abandon
    }

    /// Hands out the values that were never sent, and keeps none of them.
    package mutating func removeValues() -> [Item] {
        let values = waiting.filter { $0.isValue }
        waiting.removeAll { $0.isValue }
        return values
    }

    /// Hands out the values of one attribute that were never sent, and keeps none of them.
    package mutating func removeValues(of handle: AttributeHandle) -> [Item] {
        let values = waiting.filter { $0.isValue(of: handle) }
        waiting.removeAll { $0.isValue(of: handle) }
        return values
    }
}
