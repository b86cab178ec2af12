/// What is to be expected of the numbers that are written without response on one connection: in order, none twice, and
/// none lost without a cause.
struct CommandModel {
    /// The number that comes next, if that is known.
    private var next: UInt64?
    /// When the last one came.
    private var heard = Duration.zero
    private var gap = GapModel()

    /// Takes a number at a moment, on a link that has been there since `linked`.
    ///
    /// - Returns: What is wrong, if anything.
    mutating func received(
        _ number: UInt64,
        at now: Duration,
        linked: Duration,
        isExcused: (_ since: Duration) -> Bool
    ) -> String? {
        defer { (next, heard) = (number &+ 1, now) }
        guard let next, number != next else { return nil }
        guard number > next, gap.isExcused(after: heard, linked: linked, by: isExcused) else {
            return "the command \(number) instead of \(next)"
        }
        return nil
    }
}
