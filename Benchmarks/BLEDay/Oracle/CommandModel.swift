/// What is to be expected of the numbers that are written without response on one connection: in order, none twice, and
/// none lost without a cause.
///
/// A server ignores the commands of a client that has said that it understands it (robust caching) while the client
/// does not know yet that services changed. So all that is missing follows a change. But the client says so once on a
/// link, and what changed before that, since the link came up, counts at that very moment: so once there may be
/// something missing after a change that is long over. Of values that go the other way nothing is missing then, since
/// the client gives up all of its subscriptions when it hears of it.
///
/// Core 6.0, Vol 3, Part G, 2.5.2.1.
struct CommandModel {
    /// The number that comes next, if that is known.
    private var next: UInt64?
    /// When the last one came.
    private var heard = Duration.zero
    private var hasAnnounced = false

    /// Takes a number at a moment, on a link that has been there since `linked`, excused if services have changed.
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
        if number > next, isExcused(heard) { return nil }
        if number > next, !hasAnnounced, isExcused(linked) {
            hasAnnounced = true
            return nil
        }
        return "the command \(number) instead of \(next)"
    }
}
