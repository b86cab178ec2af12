import BLEWire

/// The updates on one bearer: packets that the controller has not accepted yet, values that are gathered to be sent
/// together in one packet, and values that are held because their client has too many pending ones.
///
/// Values are only gathered or held while packets are pending, so no value waits needlessly.
///
/// Core 6.0, Vol 3, Part F, 3.4.7.4.
struct OutgoingUpdates {
    /// A value to notify, as part of an update.
    struct Value: Equatable {
        let handle: AttributeHandle
        let value: [UInt8]
        let number: UnsentUpdates.Number
    }

    /// A packet that was sent, but that the controller has not accepted yet.
    private struct Sent {
        let receipt: SendReceipt
        let number: UnsentUpdates.Number
    }

    private let limit: Int
    /// The maximum number of pending values of one client.
    private let share: Int
    /// The pending packets, in the order of their receipts.
    private var sent = Fifo<Sent>()
    private var gathered: [Value] = []
    private var held: HeldValues

    init(limits: Limits) {
        limit = limits.gatheredValues
        share = limits.queuedFramesOfClient
        held = HeldValues(limit: limits.queuedValues)
    }

    /// True if values are being gathered or held.
    var holdsValues: Bool { !gathered.isEmpty || !held.isEmpty }

    /// Returns whether values are being gathered or a value of `octets` octets would be gathered.
    func gathers(_ octets: Int, mtu: Int) -> Bool {
        !gathered.isEmpty || !sent.isEmpty && Self.leavesRoom(octets, mtu: mtu)
    }

    /// Returns whether a packet with a value of `octets` octets has room for another value.
    private static func leavesRoom(_ octets: Int, mtu: Int) -> Bool {
        1 + 2 * ATT.MultipleHandleValueNotification.Entry.headerSize + octets < mtu
    }

    enum OnHold: Equatable {
        /// The client has few pending values and no held ones, so the value must be sent or gathered now.
        case send
        /// The value was queued.
        case wait
        /// The client has too many held values.
        case refuse
    }

    /// Queues a value if its client has too many pending values or any held ones.
    mutating func hold(_ value: Value) -> OnHold {
        let client = value.number.client
        guard held.contains(client) || !hasRoom(for: client) else { return .send }
        return held.append(value) ? .wait : .refuse
    }

    /// Removes and returns the oldest held value of a client that no longer has too many pending values; `nil` if there
    /// is none.
    mutating func nextHeld() -> Value? {
        guard !held.isEmpty else { return nil }
        let pending = sent
        return held.next { Self.hasRoom(for: $0, among: pending, share) }
    }

    private func hasRoom(for client: ClientID) -> Bool { Self.hasRoom(for: client, among: sent, share) }

    private static func hasRoom(for client: ClientID, among pending: Fifo<Sent>, _ share: Int) -> Bool {
        pending.count < share || pending.count { $0.number.client == client } < share
    }

    enum OnGather: Equatable {
        /// No packets are pending, so the value must be sent now, in a packet of its own.
        case send
        /// The value was queued.
        case wait
        /// The value was queued. These earlier values must be sent now, because the queue was full.
        case release([Value])
        /// Send these earlier values now, and then the new value in a packet of its own. A packet with the new value
        /// would have no room for another value.
        case sendAfter([Value])
    }

    /// Queues a value that can be sent with others in a packet of at most `mtu` octets, if packets are pending.
    mutating func gather(_ value: Value, mtu: Int) -> OnGather {
        guard !sent.isEmpty else { return .send }
        guard Self.leavesRoom(value.value.count, mtu: mtu) else { return .sendAfter(removeGathered()) }
        guard gathered.count >= limit else {
            gathered.append(value)
            return .wait
        }
        defer { gathered = [value] }
        return .release(gathered)
    }

    /// Records that a packet was sent for an update.
    ///
    /// The packet's receipt must not be lower than that of any earlier packet.
    mutating func noteSent(_ number: UnsentUpdates.Number, as receipt: SendReceipt) {
        sent.append(Sent(receipt: receipt, number: number))
    }

    /// Removes the oldest pending packet if it was sent no later than the packet with this receipt, and returns its
    /// update; otherwise returns `nil`.
    mutating func nextTaken(upTo receipt: SendReceipt) -> UnsentUpdates.Number? {
        guard let first = sent.first, first.receipt <= receipt else { return nil }
        return sent.popFirst()?.number
    }

    /// Removes and returns the gathered values, oldest first, if no packets are pending.
    mutating func removeValuesIfIdle() -> [Value] { sent.isEmpty && !gathered.isEmpty ? removeGathered() : [] }

    /// Removes the oldest pending packet, whose receipt will no longer be reported, and returns its update; `nil` if
    /// there is none.
    mutating func removeFirstSent() -> UnsentUpdates.Number? { sent.popFirst()?.number }

    private mutating func removeGathered() -> [Value] {
        defer { gathered = [] }
        return gathered
    }

    /// Removes and returns the gathered and held values, those of each client in order.
    mutating func removeValues() -> [Value] { removeGathered() + held.removeAll() }

    /// Removes and returns the gathered and held values of one attribute, in order.
    mutating func removeValues(of handle: AttributeHandle) -> [Value] {
        guard holdsValues else { return [] }
        defer { gathered.removeAll { $0.handle == handle } }
        return gathered.filter { $0.handle == handle } + held.removeAll(of: handle)
    }
}
