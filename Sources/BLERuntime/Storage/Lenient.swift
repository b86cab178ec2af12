/// Something in a file that is left out if it is malformed, instead of all that is around it.
struct Lenient<Value: Codable>: Codable {
    let value: Value?

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
