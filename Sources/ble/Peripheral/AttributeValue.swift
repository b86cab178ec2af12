import BLEWire
import Foundation

/// The value of an attribute that a user has typed: text, or hexadecimal digits after `0x`; at most 512 octets.
///
/// Core 6.0, Vol 3, Part F, 3.2.9.
struct AttributeValue {
    /// The reason why a text is not a valid value.
    enum Mistake: Error, CustomStringConvertible {
        case notOctets(String)
        case tooLong(octets: Int)

        var description: String {
            switch self {
            case .notOctets(let text): "“\(text)” must have pairs of hexadecimal digits after 0x"
            case .tooLong(let octets):
                "a value has at most \(ATT.maximumValueLength) octets, but this one has \(octets)"
            }
        }
    }

    let octets: Data

    /// Parses a value.
    init(_ text: String) throws(Mistake) {
        guard let octets = Octets.parse(text) else { throw .notOctets(text) }
        guard octets.count <= ATT.maximumValueLength else { throw .tooLong(octets: octets.count) }
        self.octets = octets
    }
}
