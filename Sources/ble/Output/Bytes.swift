import ArgumentParser
import BLERuntime
import Foundation

extension Data {
    /// The octets as lower-case hexadecimal digits, two for each octet.
    var hexadecimal: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }

    /// Creates data from pairs of hexadecimal digits; `nil` for anything else.
    init?(hexadecimal text: some StringProtocol) {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
        self.init(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    /// The octets as UTF-8 text; `nil` if they are empty, not valid UTF-8, or contain control characters.
    var text: String? {
        guard !isEmpty, let text = String(data: self, encoding: .utf8) else { return nil }
        return text.unicodeScalars.contains { $0.properties.generalCategory == .control } ? nil : text
    }

    /// The value in text for users: the hexadecimal digits, followed by the text if the octets are text.
    var shown: String { shown(as: nil) }

    /// Returns the value in text for users: the hexadecimal digits, followed by the decoded value in parentheses if
    /// the octets fit `format`, or by the text if they are text.
    func shown(as format: ValueFormat?) -> String {
        guard !isEmpty else { return "(empty)" }
        if let format, format.kind != .text, let reading = format.text(of: self) {
            return "\(hexadecimal) (\(reading))"
        }
        return hexadecimal + (text.map { " “\($0.printable)”" } ?? "")
    }
}

/// The parsing of values that users type: hexadecimal digits after `0x`, or text.
///
/// In arguments called `HEX`, the `0x` is optional.
enum Octets {
    static func parse(_ text: String) -> Data? {
        if text.hasPrefix("0x") { Data(hexadecimal: text.dropFirst(2)) } else { Data(text.utf8) }
    }

    static func parseDigits(_ text: String) throws -> Data {
        guard let data = Data(hexadecimal: text.hasPrefix("0x") ? text.dropFirst(2) : text[...]) else {
            throw ValidationError(
                "“\(text)” must consist of pairs of hexadecimal digits, such as 0a0b0c. For text, use --text."
            )
        }
        return data
    }
}
