/// An error that explains why bytes are not a valid packet.
package enum PacketError: Error, Equatable, Sendable {
    /// The bytes end before or inside the named field.
    case truncated(field: StaticString)
    /// `count` octets are left over after the last field.
    case trailing(count: Int)
    /// The named field has a value that the specification reserves.
    case reserved(field: StaticString)
    /// The protocol has no packet with this code.
    case unknown(code: UInt16)

    package static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.truncated(let x), .truncated(let y)), (.reserved(let x), .reserved(let y)): "\(x)" == "\(y)"
        case (.trailing(let x), .trailing(let y)): x == y
        case (.unknown(let x), .unknown(let y)): x == y
        default: false
        }
    }
}

extension PacketError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated(let field): "the packet ends inside \(field)"
        case .trailing(let count): "\(count) octets follow the last field"
        case .reserved(let field): "\(field) has a reserved value"
        case .unknown(let code): "no packet has the code 0x\(String(code, radix: 16))"
        }
    }
}
