import BLEWire

/// The updates of clients on one bearer: those that it has handed down and the controller has not taken yet, and the
/// values that wait until it has, to be notified together.
///
/// Values are gathered only while something is under way, so that none waits for what never comes.
///
/// Core 6.0, Vol 3, Part F, 3.4.7.4.
struct OutgoingUpdates {
    /// A value that is to be notified, as part of an update.
    struct Value: Equatable {
        let handle: AttributeHandle
        let value: [UInt8]
        let number: UpdateLedger.Number
    }

    /// A packet that has been handed down.
    private struct Sent {
        let receipt: SendReceipt
        let number: UpdateLedger.Number
    }

    private let limit: Int
    /// In the order of their receipts.
    private var sent = Fifo<Sent>()
    private var gathered: [Value] = []

    /// Creates a queue in which at most `limit` values wait.
    init(limit: Int) { self.limit = limit }

    /// Whether values wait.
    var holdsValues: Bool { !gathered.isEmpty }

    /// Whether values wait, or one of so many octets would.
    func gathers(_ octets: Int, mtu: Int) -> Bool {
        !gathered.isEmpty || !sent.isEmpty && Self.leavesRoom(octets, mtu: mtu)
    }

    /// Whether a packet of the given size has room for another value beside one of so many octets.
    private static func leavesRoom(_ octets: Int, mtu: Int) -> Bool {
        1 + 2 * ATT.MultipleHandleValueNotification.Entry.headerSize + octets < mtu
    }

    enum OnGather: Equatable {
        /// Nothing is under way: the value does not wait, and is to be sent by itself.
        case send
        /// It waits.
        case wait
        /// It waits, and makes room for that: these, which have waited before, are to be sent now.
        case release([Value])
        /// No other value has room beside it: these are to be sent now, and then the value by itself.
        case sendAfter([Value])
    }

    /// Takes a value that may go together with others, in a packet of at most `mtu` octets.
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

    /// Notes that a packet was handed down for an update; its receipt is greater than all before, or that of the last.
    mutating func handedDown(_ number: UpdateLedger.Number, as receipt: SendReceipt) {
        sent.append(Sent(receipt: receipt, number: number))
    }

    /// Hands out the update of the first packet that is under way, if the controller has taken that: it has taken all
    /// packets up to the one with this receipt.
    mutating func nextTaken(upTo receipt: SendReceipt) -> UpdateLedger.Number? {
        guard let first = sent.first, first.receipt <= receipt else { return nil }
        return sent.popFirst()?.number
    }

    /// Hands out the values that wait, oldest first, if nothing is under way any more.
    mutating func takeDue() -> [Value] { sent.isEmpty && !gathered.isEmpty ? removeValues() : [] }

    /// Hands out the update of the first packet that is under way, of which nobody will hear any more.
    mutating func removeFirstSent() -> UpdateLedger.Number? { sent.popFirst()?.number }

    /// Hands out the values that wait, oldest first, and keeps none of them.
    mutating func removeValues() -> [Value] {
        defer { gathered = [] }
        return gathered
    }

    /// Hands out the values of one attribute that wait, oldest first, and keeps none of them.
    mutating func removeValues(of handle: AttributeHandle) -> [Value] {
        guard !gathered.isEmpty else { return [] }
        defer { gathered.removeAll { $0.handle == handle } }
        return gathered.filter { $0.handle == handle }
    }
}
