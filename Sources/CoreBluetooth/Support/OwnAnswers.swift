/// What a peripheral object answers by itself, without asking the device, and its app has not heard yet.
///
/// An app hears of it after what is on its queue already, but at the latest when the connection ends.
struct OwnAnswers {
    typealias Answer = (CBPeripheral) -> Void

    private var waiting: [(number: UInt64, answer: Answer)] = []
    private var last: UInt64 = 0

    /// Adds an answer, and returns its number.
    mutating func append(_ answer: @escaping Answer) -> UInt64 {
        last &+= 1
        waiting.append((last, answer))
        return last
    }

    /// Hands out the next answer of those up to a number, or of all.
    mutating func next(upTo number: UInt64 = .max) -> Answer? {
        guard let first = waiting.first, first.number <= number else { return nil }
        return waiting.removeFirst().answer
    }
}
