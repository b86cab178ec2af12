/// A search for the first syntax error in a JSON text (RFC 8259).
///
/// It is needed because decoders report only that there is an error, not where.
struct JSONSyntaxError {
    /// The token that is expected next.
    private enum Expectation {
        case value
        /// A value, or the end of the list that has just begun.
        case valueOrEnd
        case key
        /// A key, or the end of the object that has just begun.
        case keyOrEnd
        case colon
        /// A comma, or the end of the list or object; the end of the text at the top level.
        case continuation
    }

    private let octets: [UInt8]
    private var index = 0
    private var line = 1
    private var expectation = Expectation.value
    /// The closing characters of the open lists and objects.
    private var ends: [UInt8] = []

    private init(_ text: some Sequence<UInt8>) { octets = Array(text) }

    /// Returns the line of the first error, from 1; `nil` if there is none.
    static func line(in text: some Sequence<UInt8>) -> Int? {
        var text = JSONSyntaxError(text)
        while let octet = text.nextOctet() {
            guard text.take(octet) else { return text.line }
        }
        if case .continuation = text.expectation, text.ends.isEmpty { return nil }
        return text.line
    }

    /// Returns the next octet that is not white space, without consuming it; `nil` at the end of the text.
    private mutating func nextOctet() -> UInt8? {
        while index < octets.count {
            switch octets[index] {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            default: return octets[index]
            }
            index += 1
        }
        return nil
    }

    /// Consumes a token that starts with `octet`; returns `false` if it is not allowed here.
    private mutating func take(_ octet: UInt8) -> Bool {
        switch (expectation, octet) {
        case (.continuation, ends.last), (.valueOrEnd, UInt8(ascii: "]")), (.keyOrEnd, UInt8(ascii: "}")):
            ends.removeLast()
            return move(to: .continuation)
        case (.continuation, UInt8(ascii: ",")):
            guard let end = ends.last else { return false }
            return move(to: end == UInt8(ascii: "}") ? .key : .value)
        case (.colon, UInt8(ascii: ":")): return move(to: .value)
        case (.key, UInt8(ascii: "\"")), (.keyOrEnd, UInt8(ascii: "\"")):
            expectation = .colon
            return takeString()
        case (.value, _), (.valueOrEnd, _): return takeValue(octet)
        case (.continuation, _), (.colon, _), (.key, _), (.keyOrEnd, _): return false
        }
    }

    /// Consumes one octet, after which `next` is expected.
    ///
    /// Always returns true.
    private mutating func move(to next: Expectation) -> Bool {
        index += 1
        expectation = next
        return true
    }

    private mutating func takeValue(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "{"):
            ends.append(UInt8(ascii: "}"))
            return move(to: .keyOrEnd)
        case UInt8(ascii: "["):
            ends.append(UInt8(ascii: "]"))
            return move(to: .valueOrEnd)
        case UInt8(ascii: "\""):
            expectation = .continuation
            return takeString()
        default:
            let word = octets[index...].prefix { !" \t\r\n,:[]{}\"".utf8.contains($0) }
            index += word.count
            expectation = .continuation
            let text = String(decoding: word, as: UTF8.self)
            return ["true", "false", "null"].contains(text) || text.wholeMatch(of: Self.number) != nil
        }
    }

    private static var number: Regex<Substring> { /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?/ }

    /// Consumes a string, including its quotes; returns `false` if it is not valid.
    private mutating func takeString() -> Bool {
        index += 1
        while index < octets.count, octets[index] >= 0x20 {
            switch octets[index] {
            case UInt8(ascii: "\""):
                index += 1
                return true
            case UInt8(ascii: "\\"):
                let isEscape = index + 1 < octets.count && "\"\\/bfnrtu".utf8.contains(octets[index + 1])
                guard isEscape else { return false }
                index += 2
            default: index += 1
            }
        }
        return false
    }
}
