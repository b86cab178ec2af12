import Foundation

/// What keys a description for `ble serve` has, at each of its places.
indirect enum DescriptionKeys: Sendable {
    case object([String: DescriptionKeys])
    case list(DescriptionKeys)
    case anything

    static let characteristic = Self.object([
        "uuid": .anything, "properties": .anything, "permissions": .anything, "value": .anything,
        "description": .anything, "format": .anything,
        "ticks": .object(["every": .anything, "values": .anything]),
    ])
    static let service = Self.object([
        "uuid": .anything, "primary": .anything, "advertised": .anything, "includes": .anything,
        "characteristics": .list(characteristic),
    ])
    static let peripheral = Self.object(["name": .anything, "services": .list(service)])

    /// What keys of worlds are called here.
    private static let hints = [
        "machines": #"this is a world, for BLUETOOTH_HOST=world:FILE; here it is {"name": …, "services": […]}"#,
        "seed": "this is a world, for BLUETOOTH_HOST=world:FILE",
        "notify": #"write "ticks": {"every": 1, "values": ["0x63", "0x64"]}, with seconds and digits after 0x"#,
        "text": #"write "value": "…", where text is as it is and digits stand after 0x"#,
        "descriptors": #"write "description": "…" for 2901 and "format": "0x…" for 2904"#,
    ]

    /// The first key that nobody reads, where it is, and what to write instead; `nil` if there is none.
    func stranger(in value: Any, at place: String = "") -> String? {
        switch (self, value) {
        case (.object(let known), let object as [String: Any]):
            for key in object.keys.sorted() {
                guard let inner = known[key] else {
                    let hint = Self.hints[key] ?? "there are \(known.keys.sorted().joined(separator: ", "))"
                    return "“\(key)” is no key of a peripheral\(place.isEmpty ? "" : " at \(place)"): \(hint)"
                }
                let path = place.isEmpty ? key : "\(place).\(key)"
                if let found = inner.stranger(in: object[key] as Any, at: path) { return found }
            }
            return nil
        case (.list(let inner), let list as [Any]):
            return list.enumerated().lazy.compactMap { inner.stranger(in: $1, at: "\(place)[\($0)]") }.first
        case (.object, _), (.list, _), (.anything, _): return nil
        }
    }
}
