/// A key, random value or block of 128 bits in wire order: the first octet is the least significant.
///
/// Core 6.0, Vol 3, Part H, 2.2.
package struct Key128: WireField, Hashable {
    package let wire: UInt128
    package init(wire: UInt128) { self.wire = wire }

    /// 128 zero bits.
    package static let zero = Self(wire: 0)
}
