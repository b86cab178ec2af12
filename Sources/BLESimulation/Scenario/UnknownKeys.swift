import BLERuntime

extension Decoder {
    /// Throws an error if there is a key that is not a case of `key`.
    ///
    /// `subject` names the part of the file in the error, such as “a world”. Unknown keys are either misspelled, or
    /// come from files for an earlier version of `ble serve`.
    func refuseUnknownKeys<Key: CodingKey & CaseIterable>(of subject: String, allowing key: Key.Type) throws {
        try refuseUnknownKeys(of: subject, allowing: key, hints: hints)
    }
}

private let ofWorlds = #"it belongs to a world, which has its devices in "machines": […]"#

/// The advice that the error adds for some unknown keys.
private let hints = [
    "ticks": #"write "notify": {"every": 1000, "values": ["63", "64"]}, in milliseconds and hexadecimal digits"#,
    "description": #"write "descriptors": [{"uuid": "2901", "text": "…"}]"#,
    "format": #"write "descriptors": [{"uuid": "2904", "value": "04000000000000"}]"#,
    "machines": ofWorlds,
    "seed": ofWorlds,
    "loss": ofWorlds,
]
