/// When something may be missing of what goes over a link: while the server holds it against its client that services
/// changed, and the client does not know yet.
///
/// A server does that only to a client that has said that it understands it (robust caching). Of such a client, all
/// that is missing follows a change. But the client says so once on a link, and what changed before that, since the
/// link came up, counts at that very moment: so once there may be something missing after a change that is long over.
///
/// Core 6.0, Vol 3, Part G, 2.5.2.1.
struct GapModel {
    private var hasAnnounced = false

    /// Whether what is missing after `heard` is excused by a change of services, which `hasChanged` tells.
    mutating func isExcused(after heard: Duration, linked: Duration, by hasChanged: (_ since: Duration) -> Bool) -> Bool
    {
        if hasChanged(heard) { return true }
        guard !hasAnnounced, hasChanged(linked) else { return false }
        hasAnnounced = true
        return true
    }
}
