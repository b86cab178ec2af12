import BLERuntime
import BLEWire

extension KeyedDecodingContainer {
    /// Decodes a UUID, which may be written as digits or as an assigned name of this `kind`.
    func uuid(forKey key: Key, of kind: BluetoothUUID.Named) throws -> String {
        try checked(uuid: decode(String.self, forKey: key), of: kind, key)
    }

    /// Returns the UUID that `text` contains or names, in one of the forms that `CBUUID` accepts.
    func checked(uuid text: String, of kind: BluetoothUUID.Named, _ key: Key) throws -> String {
        guard BluetoothUUID(text) == nil else { return text }
        guard let uuid = BluetoothUUID(written: text, naming: [kind]) else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription:
                    "“\(text)” is not a UUID; use 4 or 8 hexadecimal digits, 36 characters or an assigned name"
            )
        }
        return "\(uuid)"
    }

    /// Decodes a case of the enumeration `Name` from its raw value; returns `nil` if the key is missing.
    func nameIfPresent<Name>(forKey key: Key) throws -> Name?
    where Name: RawRepresentable<String> & CaseIterable {
        try decodeIfPresent(String.self, forKey: key).map { try name($0, key) }
    }

    /// Decodes a list of cases of the enumeration `Name` from their raw values; returns `nil` if the key is missing.
    func namesIfPresent<Name>(forKey key: Key) throws -> [Name]?
    where Name: RawRepresentable<String> & CaseIterable {
        try decodeIfPresent([String].self, forKey: key)?.map { try name($0, key) }
    }

    private func name<Name>(_ text: String, _ key: Key) throws -> Name
    where Name: RawRepresentable<String> & CaseIterable {
        if let name = Name(rawValue: text) { return name }
        let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
        throw DecodingError.dataCorruptedError(
            forKey: key,
            in: self,
            debugDescription: "“\(text)” is not known; expected one of \(known)"
        )
    }

    /// Decodes a value, given as hex digits under `key` or as text under `textKey`; returns `nil` if both keys are
    /// missing.
    func valueIfPresent(_ key: Key, orText textKey: Key) throws -> [UInt8]? {
        guard let text = try decodeIfPresent(String.self, forKey: textKey) else {
            return try octetsIfPresent(forKey: key)
        }
        guard !contains(key) else {
            throw DecodingError.dataCorruptedError(
                forKey: textKey,
                in: self,
                debugDescription: "use either “value” (hexadecimal digits) or “text” (characters), not both"
            )
        }
        return try checked(Array(text.utf8), textKey)
    }

    /// Decodes octets; returns `nil` if the key is missing.
    func octetsIfPresent(forKey key: Key, atMost limit: Int = ATT.maximumValueLength) throws -> [UInt8]? {
        try decodeIfPresent(String.self, forKey: key).map { try octets($0, key, atMost: limit) }
    }

    /// Parses octets from pairs of hex digits, optionally after `0x`.
    func octets(_ text: String, _ key: Key, atMost limit: Int = ATT.maximumValueLength) throws -> [UInt8] {
        var result: [UInt8] = []
        var rest = text.utf8.dropFirst(text.hasPrefix("0x") ? 2 : 0)
        while rest.count >= 2, let octet = UInt8(Substring(rest.prefix(2)), radix: 16) {
            result.append(octet)
            rest = rest.dropFirst(2)
        }
        guard rest.isEmpty else {
            let hasTextKey = key.stringValue == "value" && Key(stringValue: "text") != nil
            let hint = hasTextKey ? "; for characters, use “text” instead of “value”" : ""
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription: "“\(text)” does not consist of pairs of hexadecimal digits\(hint)"
            )
        }
        return try checked(result, key, atMost: limit)
    }

    /// Returns the octets, or throws an error if there are more than `limit`.
    private func checked(
        _ octets: [UInt8],
        _ key: Key,
        atMost limit: Int = ATT.maximumValueLength
    ) throws -> [UInt8] {
        guard octets.count <= limit else {
            throw DecodingError.dataCorruptedError(
                forKey: key,
                in: self,
                debugDescription:
                    "a value has at most \(limit) octets, but this one has \(octets.count)"
            )
        }
        return octets
    }
}
