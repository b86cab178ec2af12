import CoreBluetooth

/// A model of what Apple documents about the values that one characteristic sends.
///
/// They arrive in order, none twice, none is lost without a cause, and they arrive only while the app is subscribed.
struct ValueModel {
    /// The number of subscription changes that wait for an answer.
    private var pending = 0
    private var last: UInt32?
    /// The time at which ``last`` arrived.
    private var heard = Duration.zero

    mutating func changing() {
        pending += 1
        last = nil
    }

    mutating func changed() {
        pending = max(0, pending - 1)
        last = nil
    }

    /// Checks a value that has arrived at `now`.
    ///
    /// `isExcused` returns true if the server may have withheld values since the given time.
    ///
    /// A server sends no values to a client that does not know yet that services have changed: Core 6.0, Vol 3, Part G,
    /// 2.5.2.1.
    ///
    /// - Returns: A complaint if the value is wrong; otherwise `nil`.
    mutating func received(
        _ value: Data?,
        isNotifying: Bool,
        at now: Duration = .zero,
        isExcused: (_ since: Duration) -> Bool = { _ in false }
    ) -> String? {
        guard let value, value.count >= 4 else { return "a value that the server has not sent" }
        guard isNotifying || pending > 0 else { return "a value without a subscription" }
        let number = value.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        guard pending == 0 else { return nil }
        defer { (last, heard) = (number, now) }
        guard let last, number != last &+ 1, number <= last || !isExcused(heard) else { return nil }
        return "the value \(number) after \(last)"
    }
}
