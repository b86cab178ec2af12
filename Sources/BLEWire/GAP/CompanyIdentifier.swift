/// Names a maker of devices.
///
/// Assigned Numbers, 7.
package struct CompanyIdentifier: WireField, Hashable {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    /// 0xFFFF, which stands for nobody and is for tests.
    package static let none = Self(wire: 0xFFFF)

    /// The maker's name, if it is one of the well-known ones.
    package var name: String? { AssignedNames.companies[wire] }
}

extension CompanyIdentifier: CustomStringConvertible {
    /// The maker's name, or four digits.
    package var description: String {
        name ?? "0x" + [UInt8(wire >> 8), UInt8(wire & 0xFF)].hexadecimal.uppercased()
    }
}
