import BLERuntime
import Foundation

/// The encoding and decoding of JSON lines, whose keys have a fixed order.
enum JSONLine {
    /// Encodes a value as a line.
    static func text(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return String(decoding: try encoder.encode(value), as: UTF8.self).printableJSON } catch {
            preconditionFailure("\(value) cannot be encoded as JSON: \(error)")
        }
    }

    /// Prints a value as a line; exits the process if standard output cannot be written.
    static func print(_ value: some Encodable) {
        do throws(StandardStream.Failure) {
            try StandardStream.output.write(line: text(value))
        } catch {
            BLEConformance.end("\(error)")
        }
    }

    /// Decodes a value from a line.
    static func value<Value: Decodable>(_: Value.Type, in line: String) throws -> Value {
        do { return try JSONDecoder().decode(Value.self, from: Data(line.utf8)) } catch {
            throw Senseless("standard input: \(line): \((error as? DecodingError)?.explanation ?? "\(error)")")
        }
    }
}
