import BLEWire

/// The updates on one bearer: packets that were passed down but not taken by the controller, and values that wait to be
/// notified together.
///
/// Values are only gathered while packets are pending, so none waits without need.
///
/// Core 6.0, Vol 3, Part F, 3.4.7.4.
struct OutgoingUpdates {
    /// A value to notify, as part of an update.
    struct Value: Equatable {
        let handle: AttributeHandle
        let value: [UInt8]
        let number: UnsentUpdates.Number
    }

    /// A packet that was passed down.
    private struct Sent {
        let receipt: SendReceipt
        let number: UnsentUpdates.Number
    }

    private let limit: Int
    /// In the order of their receipts.
    private var sent = Fifo<Sent>()
    private var gathered: [Value] = []

    /// Creates a queue with a capacity of `limit` values.
    init(limit: Int) { self.limit = limit }

    /// True if values are waiting.
    var holdsValues: Bool { !gathered.isEmpty }

    /// Returns whether values are waiting, or one of that many octets would wait.
    func gathers(_ octets: Int, mtu: Int) -> Bool {
        !gathered.isEmpty || !sent.isEmpty && Self.leavesRoom(octets, mtu: mtu)
    }

    /// Returns whether a packet has room for another value besides one of that many octets.
    private static func leavesRoom(_ octets: Int, mtu: Int) -> Bool {
        1 + 2 * ATT.MultipleHandleValueNotification.Entry.headerSize + octets < mtu
    }

    enum OnGather: Equatable {
        /// No packets are pending: the value must be sent by itself.
        case send
        /// The value waits.
        case wait
        /// The value waits, and these earlier ones must be sent now to make room.
        case release([Value])
        /// These must be sent now, and then the value by itself, because no other value fits into its packet.
        case sendAfter([Value])
    }

    /// Adds a value that can be combined with others in a packet of at most `mtu` octets.
    mutating func gather(_ value: Value, mtu: Int) -> OnGather {
        guard !sent.isEmpty else { return .send }
        guard Self.leavesRoom(value.value.count, mtu: mtu) else { return .sendAfter(removeValues()) }
        guard gathered.count >= limit else {
            gathered.append(value)
            return .wait
        }
        defer { gathered = [value] }
        return .release(gathered)
    }

    /// Records that a packet was passed down for an update.
    ///
    /// Its receipt is not lower than all earlier ones.
    mutating func handedDown(_ number: UnsentUpdates.Number, as receipt: SendReceipt) {
        sent.append(Sent(receipt: receipt, number: number))
    }

    /// Removes the first pending packet if the controller has taken it, up to the packet with this receipt, and returns
    /// its update.
    mutating func nextTaken(upTo receipt: SendReceipt) -> UnsentUpdates.Number? {
        guard let first = sent.first, first.receipt <= receipt else { return nil }
        return sent.popFirst()?.number
    }

    /// Removes and returns the waiting values, oldest first, if no packets are pending.
    mutating func takeDue() -> [Value] { sent.isEmpty && !gathered.isEmpty ? removeValues() : [] }

    /// Removes the first pending packet, which will not be reported any more, and returns its update.
    mutating func removeFirstSent() -> UnsentUpdates.Number? { sent.popFirst()?.number }

    /// Removes and returns the waiting values, oldest first.
    mutating func removeValues() -> [Value] {
        defer { gathered = [] }
        return gathered
    }

    /// Removes and returns the waiting values of one attribute, oldest first.
    mutating func removeValues(of handle: AttributeHandle) -> [Value] {
        guard !gathered.isEmpty else { return [] }
        defer { gathered.removeAll { $0.handle == handle } }
        return gathered.filter { $0.handle == handle }
    }
}
