/// The appearance of a device: a category in the upper ten bits, a subcategory in the lower six.
///
/// Core Specification Supplement 11, Part A, 1.12; Assigned Numbers, 2.6.
package struct Appearance: WireField, Hashable {
    package let wire: UInt16
    package init(wire: UInt16) { self.wire = wire }

    package static let unknown = Self(wire: 0x0000)

    /// The category, 0 to 1023.
    package var category: UInt16 { wire >> 6 }

    /// The subcategory, 0 to 63; 0 for a generic device of the category.
    package var subcategory: UInt16 { wire & 0x3F }

    /// The name of the category; `nil` if it is unknown.
    package var categoryName: String? { AssignedNames.appearanceCategories[category] }
}

extension Appearance: CustomStringConvertible {
    /// The name of the category and subcategory, or four hex digits.
    package var description: String {
        let digits = "0x" + [UInt8(wire >> 8), UInt8(wire & 0xFF)].hexadecimal.uppercased()
        guard let categoryName else { return digits }
        return subcategory == 0 ? categoryName : "\(categoryName) (\(subcategory))"
    }
}
