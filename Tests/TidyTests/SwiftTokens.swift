/// A word, number, string or sign of Swift, and where it stands.
struct SwiftToken: Equatable {
    let text: String
    let line: Int
    /// Whether nothing stands between this token and the one before.
    let isGlued: Bool

    /// Whether this is a name or a keyword.
    var isWord: Bool {
        guard let first = text.utf8.first else { return false }
        return SwiftLexer.startsWord(first)
    }

    /// What a string literal says; `nil` for every other token.
    var literal: String? { text.hasPrefix("\"") ? String(text.dropFirst().dropLast()) : nil }
}

/// Takes Swift apart, far enough to tell code from comments and strings.
///
/// Signs come one character at a time, and comments not at all. A string is one token, whatever it interpolates.
struct SwiftLexer {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var tokenEnd = 0
    private var tokens: [SwiftToken] = []

    /// The tokens of `text`.
    static func tokens(in text: String) -> [SwiftToken] {
        var lexer = SwiftLexer(bytes: Array(text.utf8))
        lexer.run()
        return lexer.tokens
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    static func startsWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...: true
        case UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "`"): true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private func byte(ahead: Int = 0) -> UInt8 {
        position + ahead < bytes.count ? bytes[position + ahead] : 0
    }

    private func follows(_ text: StaticString) -> Bool {
        let end = position + text.utf8CodeUnitCount
        return end <= bytes.count && bytes[position..<end].elementsEqual(Array(text.description.utf8))
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < bytes.count {
            if bytes[position] == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    private mutating func run() {
        while position < bytes.count {
            switch byte() {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): advance()
            case UInt8(ascii: "/") where byte(ahead: 1) == UInt8(ascii: "/"): skipLine()
            case UInt8(ascii: "/") where byte(ahead: 1) == UInt8(ascii: "*"): skipBlockComment()
            default: takeToken()
            }
        }
    }

    private mutating func skipLine() {
        while position < bytes.count, byte() != UInt8(ascii: "\n") { advance() }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if follows("/*") {
                depth += 1
                advance(2)
            } else if follows("*/") {
                depth -= 1
                advance(2)
            } else {
                advance()
            }
        } while depth > 0 && position < bytes.count
    }

    private mutating func takeToken() {
        let start = position, startLine = line
        if startsString {
            skipString()
        } else if Self.startsWord(byte()) {
            while Self.startsWord(byte()) || Self.isDigit(byte()) { advance() }
        } else if Self.isDigit(byte()) {
            while Self.startsWord(byte()) || Self.isDigit(byte()) || isDecimalPoint { advance() }
        } else {
            advance()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        tokens.append(SwiftToken(text: text, line: startLine, isGlued: start == tokenEnd && start > 0))
        tokenEnd = position
    }

    private var isDecimalPoint: Bool { byte() == UInt8(ascii: ".") && Self.isDigit(byte(ahead: 1)) }

    private var startsString: Bool {
        var ahead = 0
        while byte(ahead: ahead) == UInt8(ascii: "#") { ahead += 1 }
        return byte(ahead: ahead) == UInt8(ascii: "\"")
    }

    private mutating func skipString() {
        var pounds = 0
        while byte() == UInt8(ascii: "#") {
            pounds += 1
            advance()
        }
        let isMultiline = follows("\"\"\"")
        let quote = [UInt8](repeating: UInt8(ascii: "\""), count: isMultiline ? 3 : 1)
        let end = quote + [UInt8](repeating: UInt8(ascii: "#"), count: pounds)
        let escape = [UInt8(ascii: "\\")] + [UInt8](repeating: UInt8(ascii: "#"), count: pounds)
        advance(quote.count)
        while position < bytes.count, !bytes[position...].starts(with: end) {
            guard bytes[position...].starts(with: escape) else {
                advance()
                continue
            }
            advance(escape.count)
            if byte() == UInt8(ascii: "(") { skipInterpolation() } else { advance() }
        }
        advance(end.count)
    }

    private mutating func skipInterpolation() {
        var depth = 0
        repeat {
            if startsString {
                skipString()
                continue
            }
            if byte() == UInt8(ascii: "(") { depth += 1 }
            if byte() == UInt8(ascii: ")") { depth -= 1 }
            advance()
        } while depth > 0 && position < bytes.count
    }
}
