/// A key of whatever name, or a place in a list.
package struct AnyKey: CodingKey {
    package let stringValue: String
    package let intValue: Int?
    package init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    package init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

extension Decoder {
    /// Refuses keys that nobody reads, which are mistyped or belong elsewhere.
    ///
    /// - Parameters:
    ///   - subject: What the object describes, such as "a rule".
    ///   - key: The keys that there are.
    ///   - hints: What to write instead of keys that somebody may take for others.
    /// - Throws: `DecodingError` at the first of them, with what to write instead.
    package func refuseKeys<Key: CodingKey & CaseIterable>(
        of subject: String,
        but key: Key.Type,
        hints: [String: String]
    ) throws {
        let known = Key.allCases.map(\.stringValue), container = try container(keyedBy: AnyKey.self)
        let others = container.allKeys.filter { !known.contains($0.stringValue) }
        guard let first = others.min(by: { $0.stringValue < $1.stringValue }) else { return }
        let hint = hints[first.stringValue] ?? "there are \(known.sorted().joined(separator: ", "))"
        throw DecodingError.dataCorruptedError(
            forKey: first,
            in: container,
            debugDescription: "“\(first.stringValue)” is no key of \(subject): \(hint)"
        )
    }
}
