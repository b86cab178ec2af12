import BLESession

/// The recent events of the daemon, as lines of text for users.
///
/// If there are too many, the oldest lines are dropped. Repeated events share one line, which leaves room for others.
struct Journal: Sendable {
    /// The maximum number of lines.
    static let most = 1_000
    /// The number of recent lines that are searched for an earlier occurrence of an event.
    private static let mergeWindow = 64

    private var lines: [JournalLine] = []
    private var last: UInt64 = 0

    /// Records an event that concerns an app or the daemon.
    ///
    /// - Parameters:
    ///   - text: The text of the entry.
    ///   - app: The app that the entry is about; `nil` if it is about the daemon, and all users may see it.
    ///   - time: The time in nanoseconds since 1970.
    mutating func note(_ text: String, of app: AppCredentials?, at time: UInt64) {
        var line = JournalLine()
        line.process = app.map { UInt32(bitPattern: $0.process) }
        line.user = app?.user
        line.program = ShownText.path(app?.program ?? "")
        line.text = ShownText.text(text)
        let earlier = lines.suffix(Self.mergeWindow).lastIndex { known in
            known.process == line.process && known.user == line.user && known.text == line.text
                && known.program == line.program
        }
        if let earlier { line.count = lines.remove(at: earlier).count.addingSaturated(1) }
        if lines.count == Self.most { lines.removeFirst() }
        last += 1
        line.number = last
        line.time = time
        lines.append(line)
    }

    /// Returns the lines with numbers above `number` that are about the daemon itself, or about an app of a user for
    /// whom `mayKnow` returns true.
    ///
    /// A `number` that no line has had yet comes from an earlier run of the daemon; lines with all numbers are then
    /// returned.
    func lines(after number: UInt64, where mayKnow: (_ user: UInt32) -> Bool) -> [JournalLine] {
        // This daemon has not assigned a number above `last`, so such a number comes from an earlier run of the daemon.
        let first = number > last ? 0 : number
        return lines.filter { line in line.number > first && line.user.map(mayKnow) ?? true }
    }
}

extension UInt32 {
    fileprivate func addingSaturated(_ other: Self) -> Self {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
