/// A search for the line of a value in a JSON text.
///
/// It is needed because the errors of decoders contain only the keys that lead to the value.
package struct JSONLocation {
    private let octets: [UInt8]
    private var index = 0
    private var line = 1
    /// The maximum nesting depth.
    private static let mostDepth = 512

    private init(_ text: some Sequence<UInt8>) { octets = Array(text) }

    /// Returns the line, from 1, on which the value at `path` begins.
    ///
    /// If there is no such value, returns the line of the last value on the path that exists.
    package static func line(of path: [any CodingKey], in text: some Sequence<UInt8>) -> Int {
        var place = JSONLocation(text)
        place.skipSpace()
        for key in path where !place.enter(key) { break }
        return place.line
    }

    /// Moves to the value of a key; returns `false` if the key does not exist.
    private mutating func enter(_ key: any CodingKey) -> Bool {
        let start = (index, line)
        switch octet {
        case UInt8(ascii: "{"):
            advance()
            while octet == UInt8(ascii: "\"") {
                let name = string()
                skipSpace()
                guard octet == UInt8(ascii: ":") else { break }
                advance()
                skipSpace()
                if name == Array(key.stringValue.utf8) { return true }
                skipValue(0)
                skipComma()
            }
        case UInt8(ascii: "["):
            advance()
            for _ in 0..<(key.intValue ?? 0) {
                skipValue(0)
                skipComma()
            }
            if let octet, octet != UInt8(ascii: "]") { return true }
        default: break
        }
        (index, line) = start
        return false
    }

    private var octet: UInt8? { octets.indices.contains(index) ? octets[index] : nil }

    /// Moves past the current octet and the white space after it.
    private mutating func advance() {
        step()
        skipSpace()
    }

    private mutating func step() {
        if octet == UInt8(ascii: "\n") { line += 1 }
        index += 1
    }

    private mutating func skipSpace() {
        while let octet, [0x20, 0x09, 0x0A, 0x0D].contains(octet) { step() }
    }

    private mutating func skipComma() {
        skipSpace()
        if octet == UInt8(ascii: ",") { advance() }
    }

    /// Consumes a string and returns its raw contents.
    private mutating func string() -> [UInt8] {
        step()
        let start = index
        while let octet, octet != UInt8(ascii: "\"") {
            if octet == UInt8(ascii: "\\") { step() }
            step()
        }
        let text = Array(octets[min(start, octets.count)..<min(index, octets.count)])
        step()
        return text
    }

    private mutating func skipValue(_ depth: Int) {
        switch octet {
        case UInt8(ascii: "\""): _ = string()
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < Self.mostDepth else { return index = octets.count }
            let end = octet == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]")
            advance()
            while let octet, octet != end {
                if [UInt8(ascii: ","), UInt8(ascii: ":")].contains(octet) { advance() } else { skipValue(depth + 1) }
                skipSpace()
            }
            step()
        default:
            let ends = Array(",]}".utf8)
            var steps = 0
            while let octet, !ends.contains(octet) {
                step()
                steps += 1
            }
            if steps == 0 { step() }
        }
    }
}

extension DecodingError {
    /// Returns the name of a JSON file, followed by the line of this error if the line can be determined.
    package func place(in file: String, _ text: some Sequence<UInt8>) -> String {
        let path: [any CodingKey] =
            switch self {
            case .keyNotFound(_, let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
                .dataCorrupted(let context):
                context.codingPath
            @unknown default: []
            }
        let line = path.isEmpty ? JSONSyntaxError.line(in: text) : JSONLocation.line(of: path, in: text)
        return line.map { "\(file):\($0)" } ?? file
    }
}
