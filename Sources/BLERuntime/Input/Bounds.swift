/// The valid range of a number that comes from outside: from a file, an argument or an environment variable.
///
/// Every such number is read through a `Bounds`, so that later conversions cannot overflow. Numbers out of range,
/// fractions where a whole number is needed, and other text are rejected with a description of the expected range.
package struct Bounds<Number>: Sendable, CustomStringConvertible
where Number: Comparable & Decodable & LosslessStringConvertible & Sendable {
    /// The rejection of a number; its description says what is expected instead.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    private let range: ClosedRange<Number>
    private let unit: String?

    /// Creates a range of numbers, or of quantities with a `unit` such as "seconds".
    package init(_ range: ClosedRange<Number>, of unit: String? = nil) {
        self.range = range
        self.unit = unit
    }

    /// A clause that describes the expected value, such as "a number of seconds from 0.5 to 60 is expected".
    ///
    /// The greatest integer is not named: "a whole number, 1 or greater, is expected".
    package var description: String {
        let kind = range.lowerBound is any BinaryInteger ? "a whole number" : "a number"
        let bounds = [range.lowerBound, range.upperBound].map { bound in
            (bound as? Double).flatMap { Int(exactly: $0) }.map(String.init) ?? "\(bound)"
        }
        let quantity = kind + (unit.map { " of \($0)" } ?? "")
        guard ![String(Int.max), String(UInt64.max)].contains(bounds[1]) else {
            return "\(quantity), \(bounds[0]) or greater, is expected"
        }
        return "\(quantity) from \(bounds[0]) to \(bounds[1]) is expected"
    }

    /// Parses a number, which must lie within the range.
    package func read(_ text: some StringProtocol) throws(Refusal) -> Number {
        guard let number = Number(String(text)), range ~= number else { throw Refusal(description: description) }
        return number
    }

    /// Decodes a number from a file, which must lie within the range.
    ///
    /// - Throws: A `DecodingError` with the path of the value.
    package func decode(from decoder: any Decoder) throws -> Number {
        guard let number = try? decoder.singleValueContainer().decode(Number.self), range ~= number else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: description))
        }
        return number
    }
}

extension Bounds<Double> {
    /// Parses a time in seconds.
    ///
    /// The bounds must be in seconds, too.
    package func duration(_ text: String) throws(Refusal) -> Duration { .seconds(try read(text)) }
}

extension KeyedDecodingContainer {
    /// Decodes the number for `key`.
    ///
    /// - Throws: A `DecodingError` if it is missing or out of range.
    package func decode<Number>(_ bounds: Bounds<Number>, forKey key: Key) throws -> Number {
        guard let number = try decodeIfPresent(bounds, forKey: key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "\(bounds)"))
        }
        return number
    }

    /// Decodes the number for `key`; returns `nil` if the key is missing or null.
    package func decodeIfPresent<Number>(_ bounds: Bounds<Number>, forKey key: Key) throws -> Number? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try bounds.decode(from: superDecoder(forKey: key))
    }
}
