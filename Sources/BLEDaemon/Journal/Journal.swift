import BLESession

/// The recent events as lines for people.
///
/// The oldest are dropped first.
///
/// Repetitions share one line, so that they leave room for others.
struct Journal: Sendable {
    /// The maximum number of lines.
    static let most = 1_000
    /// The maximum length of a text, or of the end of a program's path, in octets.
    static let mostOfText = 240
    /// The number of recent lines that are searched for a repetition.
    private static let memory = 64

    private var lines: [JournalLine] = []
    private var last: UInt64 = 0

    /// Records an event of an app or of the daemon.
    ///
    /// - Parameters:
    ///   - text: The text of the entry.
    ///   - app: The app that the entry is about; `nil` for all.
    ///   - time: The time in nanoseconds since 1970.
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

    /// Returns the lines with greater numbers than `number` that someone may see who may see those users.
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
