/// Which numbers make sense at a place where others write one: in a file, an argument or a variable.
///
/// Every number from outside is read through one of these, so that it fits whatever it is converted to later. What is
/// huge, negative, no integer or no number is refused with the range that is expected.
package struct Bounds<Number>: Sendable, CustomStringConvertible
where Number: Comparable & Decodable & LosslessStringConvertible & Sendable {
    /// Why something was refused: what is expected instead.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    private let range: ClosedRange<Number>
    private let unit: String?

    /// Creates bounds of numbers, or of quantities in a `unit` such as "seconds".
    package init(_ range: ClosedRange<Number>, of unit: String? = nil) {
        self.range = range
        self.unit = unit
    }

    /// What is expected, such as "a number of seconds from 0.5 to 60 is expected".
    package var description: String {
        let kind = range.lowerBound is any BinaryInteger ? "a whole number" : "a number"
        let bounds = [range.lowerBound, range.upperBound].map { bound in
            (bound as? Double).flatMap { Int(exactly: $0) }.map(String.init) ?? "\(bound)"
        }
        return "\(kind)\(unit.map { " of \($0)" } ?? "") from \(bounds[0]) to \(bounds[1]) is expected"
    }

    /// Reads a number as people type it.
    package func read(_ text: some StringProtocol) throws(Refusal) -> Number {
        guard let number = Number(String(text)), range ~= number else { throw Refusal(description: description) }
        return number
    }

    /// Reads a number where a file has one.
    ///
    /// - Throws: `DecodingError` that names the place.
    package func decode(from decoder: any Decoder) throws -> Number {
        guard let number = try? decoder.singleValueContainer().decode(Number.self), range ~= number else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: description))
        }
        return number
    }
}

extension Bounds<Double> {
    /// Reads a time as people type it, where these are bounds of seconds.
    package func duration(_ text: String) throws(Refusal) -> Duration { .seconds(try read(text)) }
}

extension KeyedDecodingContainer {
    /// Reads the number under `key`, which has to be there.
    package func decode<Number>(_ bounds: Bounds<Number>, forKey key: Key) throws -> Number {
        guard let number = try decodeIfPresent(bounds, forKey: key) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "\(bounds)"))
        }
        return number
    }

    /// Reads the number under `key`; `nil` if there is none.
    package func decodeIfPresent<Number>(_ bounds: Bounds<Number>, forKey key: Key) throws -> Number? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try bounds.decode(from: superDecoder(forKey: key))
    }
}
