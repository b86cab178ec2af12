/// A coding key with any name, or an index in a list.
package struct AnyKey: CodingKey {
    package let stringValue: String
    package let intValue: Int?
    package init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    package init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

extension Decoder {
    /// Throws if the decoded object has keys other than those of `key`: such keys are misspelled or in the wrong place.
    ///
    /// - Parameters:
    ///   - subject: The described object, such as "a rule".
    ///   - key: The type of the allowed keys.
    ///   - hints: Advice on unknown keys that are easily confused with valid ones, by unknown key.
    /// - Throws: A `DecodingError` about the first unknown key in alphabetical order, with advice.
    package func refuseUnknownKeys<Key: CodingKey & CaseIterable>(
        of subject: String,
        allowing key: Key.Type,
        hints: [String: String]
    ) throws {
        let known = Key.allCases.map(\.stringValue), container = try container(keyedBy: AnyKey.self)
        let others = container.allKeys.filter { !known.contains($0.stringValue) }
        guard let first = others.min(by: { $0.stringValue < $1.stringValue }) else { return }
        let hint = hints[first.stringValue] ?? "use one of \(known.sorted().joined(separator: ", "))"
        throw DecodingError.dataCorruptedError(
            forKey: first,
            in: container,
            debugDescription: "“\(first.stringValue)” is not a key of \(subject); \(hint)"
        )
    }
}

extension DecodingError {
    /// A description of the error, with the path to its place in the file, such as `services[0].uuid`.
    package var explanation: String {
        switch self {
        case .keyNotFound(let key, let context): "“\(key.stringValue)” is missing\(context.place)"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(context.reason)\(context.place)"
        case .dataCorrupted(let context):
            if !context.codingPath.isEmpty {
                "\(context.reason)\(context.place)"
            } else if context.debugDescription == Self.noJSON {
                "it is not valid JSON"
            } else {
                "it is not valid JSON (\(context.reason))"
            }
        @unknown default: "\(self)"
        }
    }

    /// The description that the JSON decoder gives to text that is not JSON.
    private static var noJSON: String { "The given data was not valid JSON." }
}

extension DecodingError.Context {
    /// The description without a full stop, which the JSON decoder adds to its own.
    fileprivate var reason: String {
        debugDescription.hasSuffix(".") ? String(debugDescription.dropLast()) : debugDescription
    }

    /// The end of an error message, such as ` (at services[0].uuid)`; empty for an error at the top level of the file.
    fileprivate var place: String {
        guard !codingPath.isEmpty else { return "" }
        let path = codingPath.reduce(into: "") { path, key in
            path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? "" : ".") + key.stringValue
        }
        return " (at \(path))"
    }
}
