import CoreBluetooth

/// What Apple documents of the values that one characteristic sends: in order, none twice, none lost without a cause,
/// and only while the app wants them.
struct ValueModel {
    /// How many changes of the subscription wait for their answer.
    private var pending = 0
    private var last: UInt32?
    /// When that came.
    private var heard = Duration.zero

    mutating func changing() {
        pending += 1
        last = nil
    }

    mutating func changed() {
        pending = max(0, pending - 1)
        last = nil
    }

    /// Takes a value at a moment, excused if the server may have held back others since the one before.
    ///
    /// A server sends nothing to whoever does not know yet that its services changed: Core 6.0, Vol 3, Part G, 2.5.2.1.
    ///
    /// - Returns: What is wrong, if anything.
    mutating func received(
        _ value: Data?,
        isNotifying: Bool,
        at now: Duration = .zero,
        isExcused: (_ since: Duration) -> Bool = { _ in false }
    ) -> String? {
        guard let value, value.count >= 4 else { return "a value that nobody sent" }
        guard isNotifying || pending > 0 else { return "a value without a subscription" }
        let number = value.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        guard pending == 0 else { return nil }
        defer { (last, heard) = (number, now) }
        guard let last, number != last &+ 1, number <= last || !isExcused(heard) else { return nil }
        return "the value \(number) after \(last)"
    }
}
