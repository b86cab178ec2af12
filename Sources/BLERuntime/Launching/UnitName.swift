/// The name of a systemd service unit, valid according to systemd.unit(5).
package struct UnitName: Equatable, Sendable, CustomStringConvertible {
    private static let suffix = ".service"
    private static let signs = Set(":_.\\@-".utf8)

    package let description: String

    /// Creates a name; returns `nil` if it is not a valid name of a service unit.
    package init?(_ name: String) {
        let octets = name.utf8
        guard name.hasSuffix(Self.suffix), (Self.suffix.utf8.count + 1...255).contains(octets.count),
            octets.first != UInt8(ascii: "."), octets.first != UInt8(ascii: "@"),
            octets.allSatisfy({ Self.signs.contains($0) || Self.isAlphanumeric($0) })
        else { return nil }
        description = name
    }

    /// The name of the unit's template, such as `a@.service` for `a@b.service`; its own name if it has no template.
    var template: String {
        guard let at = description.firstIndex(of: "@") else { return description }
        return description[...at] + Self.suffix
    }

    private static func isAlphanumeric(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
