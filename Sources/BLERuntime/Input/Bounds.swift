/// The valid range of a number from outside: in a file, an argument or a variable.
///
/// Every number from outside is read through one of these, so that it fits all later conversions. Numbers out of range,
/// non-integers and other text are rejected with the expected range.
package struct Bounds<Number>: Sendable, CustomStringConvertible
where Number: Comparable & Decodable & LosslessStringConvertible & Sendable {
    /// The reason of a rejection: what is expected instead.
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

    /// The expected value, such as "a number of seconds from 0.5 to 60 is expected".
    package var description: String {
        let kind = range.lowerBound is any BinaryInteger ? "a whole number" : "a number"
        let bounds = [range.lowerBound, range.upperBound].map { bound in
            (bound as? Double).flatMap { Int(exactly: $0) }.map(String.init) ?? "\(bound)"
        }
        return "\(kind)\(unit.map { " of \($0)" } ?? "") from \(bounds[0]) to \(bounds[1]) is expected"
    }

    /// Parses a number.
    package func read(_ text: some StringProtocol) throws(Refusal) -> Number {
        guard let number = Number(String(text)), range ~= number else { throw Refusal(description: description) }
        return number
    }

    /// Decodes a number from a file.
    ///
    /// - Throws: A `DecodingError` that names the place.
    package func decode(from decoder: any Decoder) throws -> Number {
        guard let number = try? decoder.singleValueContainer().decode(Number.self), range ~= number else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: description))
        }
        return number
    }
}

extension Bounds<Double> {
    /// Parses a time, if these are bounds of seconds.
    package func duration(_ text: String) throws(Refusal) -> Duration { .seconds(try read(text)) }
}

extension KeyedDecodingContainer {
    /// Decodes the number for `key`, which is required.
    package func decode<Number>(_ bounds: Bounds<Number>, forKey key: Key) throws -> Number {
        guard let number = try decodeIfPresent(bounds, forKey: key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "\(bounds)"))
        }
        return number
    }

    /// Decodes the number for `key`; `nil` if there is none.
    package func decodeIfPresent<Number>(_ bounds: Bounds<Number>, forKey key: Key) throws -> Number? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try bounds.decode(from: superDecoder(forKey: key))
    }
}
