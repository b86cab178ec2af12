/// A parser of the textual form of a fault.
///
/// It works with octets, because a name may start with a character that combines with the preceding space.
struct FaultParser {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    /// True if everything has been consumed.
    var isAtEnd: Bool { rest.isEmpty }

    /// Consumes exactly these words if they come next; returns whether they do.
    mutating func take(_ words: String) -> Bool {
        guard rest.starts(with: words.utf8) else { return false }
        rest = rest.dropFirst(words.utf8.count)
        return true
    }

    /// Consumes everything up to the next space; returns `nil` if there is nothing to consume.
    mutating func word() -> String? {
        let word = rest.prefix { $0 != UInt8(ascii: " ") }
        rest = rest.dropFirst(word.count)
        return word.isEmpty ? nil : String(Substring(word))
    }

    /// Consumes a decimal number; returns `nil` if there is none.
    mutating func number() -> Int? { word().flatMap { Int($0) } }

    /// Consumes a duration in milliseconds with its unit; returns `nil` if there is none.
    mutating func duration() -> Duration? {
        guard let number = word(), take(" ms") else { return nil }
        return Duration(milliseconds: number)
    }

    /// Consumes the name of a step, in quotes unless it is a single word; returns `nil` if there is none.
    mutating func step() -> String? { rest.first == UInt8(ascii: "\"") ? quoted() : word() }

    /// Consumes the rest as the name of a machine; returns `nil` if it is not a valid name.
    mutating func machine() -> String? {
        guard rest.first == UInt8(ascii: "\"") else {
            defer { rest = rest.dropFirst(rest.count) }
            return rest.isEmpty ? nil : String(Substring(rest))
        }
        guard let name = quoted(), rest.isEmpty else { return nil }
        return name
    }

    private mutating func quoted() -> String? {
        guard take("\"") else { return nil }
        var name: [UInt8] = []
        while let octet = rest.popFirst() {
            switch octet {
            case UInt8(ascii: "\""): return String(decoding: name, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains(escaped) else {
                    return nil
                }
                name.append(escaped)
            default: name.append(octet)
            }
        }
        return nil
    }

    /// Returns the name of a step, in quotes unless it is a single word.
    static func step(_ name: String) -> String { name.utf8.contains(UInt8(ascii: " ")) ? quote(name) : machine(name) }

    /// Returns the name of a machine, in quotes if it is empty or starts with a quote.
    static func machine(_ name: String) -> String {
        name.isEmpty || name.utf8.first == UInt8(ascii: "\"") ? quote(name) : name
    }

    private static func quote(_ name: String) -> String {
        var octets = [UInt8(ascii: "\"")]
        for octet in name.utf8 {
            if octet == UInt8(ascii: "\"") || octet == UInt8(ascii: "\\") { octets.append(UInt8(ascii: "\\")) }
            octets.append(octet)
        }
        return String(decoding: octets + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}

extension Duration {
    private static let attosecondsPerMillisecond: Int128 = 1_000_000_000_000_000

    /// The duration in milliseconds, rounded down, with the unit, for messages.
    var inMilliseconds: String { "\(attoseconds / Self.attosecondsPerMillisecond) ms" }

    /// The duration in milliseconds with the unit, with enough decimal places to restore the exact duration.
    var inExactMilliseconds: String {
        let (whole, fraction) = attoseconds.magnitude.quotientAndRemainder(
            dividingBy: Self.attosecondsPerMillisecond.magnitude
        )
        var text = attoseconds < 0 ? "-\(whole)" : "\(whole)"
        if fraction > 0 {
            let digits = "\(fraction)"
            text += "." + String(repeating: "0", count: 15 - digits.count) + digits
            while text.last == "0" { text.removeLast() }
        }
        return text + " ms"
    }

    /// Parses ``inExactMilliseconds`` without the unit; returns `nil` for anything else and for durations that are too
    /// long.
    init?(milliseconds text: String) {
        let isNegative = text.hasPrefix("-")
        let parts = text.dropFirst(isNegative ? 1 : 0).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isDigit) }),
            let whole = parts.first
        else { return nil }
        let fraction = parts.count == 2 ? parts[1] : ""
        guard fraction.utf8.count <= 15 else { return nil }
        let sign = isNegative ? "-" : "", zeros = String(repeating: "0", count: 15 - fraction.utf8.count)
        guard let attoseconds = Int128("\(sign)\(whole)\(fraction)\(zeros)") else { return nil }
        self.init(attoseconds: attoseconds)
    }

    private static func isDigit(_ octet: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= octet }
}
