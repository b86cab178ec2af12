import BLESession

/// What has happened lately, as lines for people: the oldest go first.
///
/// Who does the same again and again has one line for it, so that it leaves room for others.
struct Journal: Sendable {
    /// How many lines are held.
    static let most = 1_000
    /// How many octets of a text, or of the end of a program's file, are held.
    static let mostOfText = 240
    /// How far back a line is looked for that is noted again.
    private static let memory = 64

    private var lines: [JournalLine] = []
    private var last: UInt64 = 0

    /// Notes what has happened to an app, or to the daemon.
    ///
    /// - Parameters:
    ///   - text: What it was.
    ///   - app: Whom it is about; `nil` for all.
    ///   - time: When it was, in nanoseconds since 1970.
    mutating func note(_ text: String, of app: AppCredentials?, at time: UInt64) {
        var line = JournalLine()
        line.process = app.map { UInt32(bitPattern: $0.process) }
        line.user = app?.user
        line.program = String(decoding: (app?.program ?? "").utf8.suffix(Self.mostOfText), as: UTF8.self)
        line.text = String(decoding: text.utf8.prefix(Self.mostOfText), as: UTF8.self)
        let earlier = lines.suffix(Self.memory).lastIndex { known in
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

    /// The lines with greater numbers than `number` that somebody may see who may know of those users.
    func lines(after number: UInt64, where mayKnow: (_ user: UInt32) -> Bool) -> [JournalLine] {
        // The next number is not reached in the life of a daemon; a greater one is of an earlier daemon.
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
