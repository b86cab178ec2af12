/// What a device looks like: a category in the upper ten bits and a kind of it in the lower six.
///
/// Core Specification Supplement 11, Part A, 1.12; Assigned Numbers, 2.6.
package struct Appearance: WireField, Hashable {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    package static let unknown = Self(wire: 0x0000)

    /// The category alone, 0 to 1023.
    package var category: UInt16 { wire >> 6 }

    /// The kind within the category, 0 to 63; 0 for any.
    package var subcategory: UInt16 { wire & 0x3F }

    /// The category's name, if it has one.
    package var categoryName: String? { AssignedNames.appearanceCategories[category] }
}

extension Appearance: CustomStringConvertible {
    /// The name of the category, then the kind if there is one; or four digits.
    package var description: String {
        let digits = "0x" + [UInt8(wire >> 8), UInt8(wire & 0xFF)].hexadecimal.uppercased()
        guard let categoryName else { return digits }
        return subcategory == 0 ? categoryName : "\(categoryName) (\(subcategory))"
    }
}
