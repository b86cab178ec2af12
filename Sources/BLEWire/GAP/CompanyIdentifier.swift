/// The number of a company in manufacturer data.
///
/// Assigned Numbers, 7.
package struct CompanyIdentifier: WireField, Hashable {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// The identifier 0xFFFF, which no company has and which is meant for tests.
    package static let none = Self(wire: 0xFFFF)

    /// The name of the company; `nil` if it is not in the table of well-known companies.
    package var name: String? { AssignedNames.companies[wire] }
}

extension CompanyIdentifier: CustomStringConvertible {
    /// The company's name, or four hex digits.
    package var description: String {
        name ?? "0x" + [UInt8(wire >> 8), UInt8(wire & 0xFF)].hexadecimal.uppercased()
    }
}
