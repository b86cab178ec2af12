/// A key of whatever name.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    /// Refuses keys that nobody reads, which are mistyped or belong elsewhere.
    ///
    /// - Parameters:
    ///   - key: The keys that are read.
    ///   - subject: What has those keys, such as "a rule".
    /// - Throws: `DecodingError` that names the place, and the keys that there are.
    package func refuseKeys<Key: CodingKey & CaseIterable>(but key: Key.Type, of subject: String) throws {
        let known = Key.allCases.map(\.stringValue), container = try container(keyedBy: AnyKey.self)
        let others = container.allKeys.filter { !known.contains($0.stringValue) }
        guard let first = others.min(by: { $0.stringValue < $1.stringValue }) else { return }
        throw DecodingError.dataCorruptedError(
            forKey: first,
            in: container,
            debugDescription: "“\(first.stringValue)” is no key of \(subject): there are "
                + known.sorted().joined(separator: ", ")
        )
    }
}
