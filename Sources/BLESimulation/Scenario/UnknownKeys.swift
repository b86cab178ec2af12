/// A key of whatever name, or a place in a list.
struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?
    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

extension Decoder {
    /// Refuses keys that nobody reads, which are mistyped or were those of `ble serve` once.
    ///
    /// - Parameters:
    ///   - noun: What the object describes, such as "a device".
    ///   - _: The keys that there are.
    /// - Throws: `DecodingError` at the first of them, with what to write instead.
    func refuseKeys<Key: CodingKey & CaseIterable>(of noun: String, but _: Key.Type) throws {
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
            debugDescription: "“\(key.stringValue)” is no key of \(noun): \(hint)"
        )
    }
}

private let ofWorlds = #"it is one of a world, which has its devices in "machines": […]"#

/// What to write instead of keys that are not read, where they are.
private let hints = [
    "ticks": #"write "notify": {"every": 1000, "values": ["63", "64"]}, with milliseconds and digits"#,
    "description": #"write "descriptors": [{"uuid": "2901", "text": "…"}]"#,
    "format": #"write "descriptors": [{"uuid": "2904", "value": "04000000000000"}]"#,
    "machines": ofWorlds,
    "seed": ofWorlds,
    "loss": ofWorlds,
]
