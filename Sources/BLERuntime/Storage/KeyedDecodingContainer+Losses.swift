import BLEWire

extension KeyedDecodingContainer {
    /// Decodes the value for `key`; returns `nil` if there is none.
    ///
    /// If the value cannot be read, also returns `nil`, and adds the place of the value to `losses`.
    func decodeIfReadable<Value: Decodable>(_ type: Value.Type, forKey key: Key, losses: inout [String]) -> Value? {
        do {
            return try decodeIfPresent(type, forKey: key)
        } catch {
            losses.append(place(of: error, under: codingPath + [key]))
            return nil
        }
    }

    /// Decodes a number of up to 128 bits from hexadecimal digits.
    func decodeNumber(forKey key: Key) throws -> UInt128 {
        let text = try decode(String.self, forKey: key)
        guard let number = UInt128(text, radix: 16) else { throw malformed(key) }
        return number
    }

    /// Decodes an address and its kind, which are stored under separate keys.
    func decodeAddress(forKey key: Key, isRandom kindKey: Key) throws -> DeviceAddress {
        let text = try decode(String.self, forKey: key)
        let kind: DeviceAddress.Kind = try decode(Bool.self, forKey: kindKey) ? .random : .public
        guard let address = DeviceAddress(text, kind) else { throw malformed(key) }
        return address
    }

    /// Returns an error that says that the value for `key` is invalid.
    func malformed(_ key: Key) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: "invalid value")
    }
}

/// Returns the place of an error in a file, such as `peers[3].bond.keySize`; `path` if the error does not contain a
/// place.
func place(of error: any Error, under path: [any CodingKey]) -> String {
    let keys: [any CodingKey] =
        switch error as? DecodingError {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath
        case .keyNotFound(let key, let context): context.codingPath + [key]
        case .none: path
        @unknown default: path
        }
    return keys.reduce(into: "") { text, key in
        if let index = key.intValue {
            text += "[\(index)]"
        } else {
            text += (text.isEmpty ? "" : ".") + key.stringValue
        }
    }
}
