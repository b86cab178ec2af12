/// A model of the numbers that are written without response on one connection.
///
/// They must arrive in order, none twice, and none may be lost without a cause.
///
/// As long as a client with robust caching does not know that services have changed, the server ignores its commands.
/// Numbers may therefore be missing after a change.
///
/// A client enables robust caching only once on a link, possibly long after the link began. If services have changed in
/// the meantime, the server ignores the client's commands until the client learns of the change. Numbers may therefore
/// be missing once on each link although the last change is long over. The server's own values are not missing in this
/// case, because the client drops all subscriptions when it learns of the change.
///
/// Core 6.0, Vol 3, Part G, 2.5.2.1.
struct CommandModel {
    /// The number that must come next; `nil` if that is not known.
    private var next: UInt64?
    /// The time at which the last number arrived.
    private var heard = Duration.zero
    private var hasAnnounced = false

    /// Checks a number that has arrived at `now` on a link that began at `linked`.
    ///
    /// `isExcused` returns true if services have changed since the given time.
    ///
    /// - Returns: A complaint if the number is wrong; otherwise `nil`.
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
