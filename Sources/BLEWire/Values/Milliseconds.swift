extension Int {
    /// This number of microseconds as text, such as "7.5 ms" or "1.28 s".
    var microsecondsText: String {
        if self >= 1_000_000, isMultiple(of: 10_000) { return Self.decimal(self / 10_000, digits: 2) + " s" }
        return Self.decimal(self, digits: 3) + " ms"
    }

    /// Returns `value` ÷ 10^`digits` as a decimal number without trailing zeros.
    private static func decimal(_ value: Int, digits: Int) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let fraction = String(value % scale)
        var padded = String(repeating: "0", count: digits - fraction.utf8.count) + fraction
        while padded.hasSuffix("0") { padded.removeLast() }
        return padded.isEmpty ? "\(value / scale)" : "\(value / scale).\(padded)"
    }
}
