/// A company identifier.
///
/// Assigned Numbers, 7.
package struct CompanyIdentifier: WireField, Hashable {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// 0xFFFF, which is reserved for tests.
    package static let none = Self(wire: 0xFFFF)

    /// The name of a well-known company.
    package var name: String? { AssignedNames.companies[wire] }
}

extension CompanyIdentifier: CustomStringConvertible {
    /// The company's name, or four hex digits.
    package var description: String {
        name ?? "0x" + [UInt8(wire >> 8), UInt8(wire & 0xFF)].hexadecimal.uppercased()
    }
}
