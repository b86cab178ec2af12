/// A key of whatever name.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    /// Refuses keys that nobody reads, which are mistyped or belong to the other form of file.
    func refuseKeys<Key: CodingKey & CaseIterable>(but _: Key.Type) throws {
        let known = Key.allCases.map(\.stringValue)
        let container = try container(keyedBy: AnyKey.self)
        guard
            let key = container.allKeys.filter({ !known.contains($0.stringValue) })
                .min(by: { $0.stringValue < $1.stringValue })
        else { return }
        let hint = hints[key.stringValue] ?? "there are \(known.sorted().joined(separator: ", "))"
        throw DecodingError.dataCorruptedError(
            forKey: key,
            in: container,
            debugDescription: "“\(key.stringValue)” is no key of a world: \(hint)"
        )
    }
}

/// What keys of `ble serve` are called in a world.
private let hints = [
    "ticks": #"write "notify": {"every": 1000, "values": ["63", "64"]}, with milliseconds and digits without 0x"#,
    "description": #"write "descriptors": [{"uuid": "2901", "text": "…"}]"#,
    "format": #"write "descriptors": [{"uuid": "2904", "value": "04000000000000"}]"#,
    "permissions": #"write "protected": true for what only paired devices use; the rest follows from the properties"#,
]
