import BLERuntime

extension Decoder {
    /// Refuses keys that nobody reads, which are mistyped or were those of `ble serve` once.
    func refuseKeys<Key: CodingKey & CaseIterable>(of subject: String, but key: Key.Type) throws {
        try refuseKeys(of: subject, but: key, hints: hints)
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
