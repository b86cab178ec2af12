/// An integer of 8 to 128 bits, as fields have it.
///
/// What is generic over it needs two calls for a field, however wide, where the compiler does not know the type: the
/// messages of other modules are laid out so.
package protocol WireInteger: FixedWidthInteger, UnsignedInteger, Sendable {
    /// How many octets it has.
    static var octets: Int { get }
    /// Its lower 64 bits, and those above.
    var halves: (low: UInt64, high: UInt64) { get }
    init(low: UInt64, high: UInt64)
}

extension WireInteger {
    @inline(__always)
    package static var octets: Int { bitWidth / 8 }

    @inline(__always)
    package var halves: (low: UInt64, high: UInt64) { (UInt64(truncatingIfNeeded: self), 0) }

    @inline(__always)
    package init(low: UInt64, high: UInt64) { self.init(truncatingIfNeeded: low) }
}

extension UInt8: WireInteger {}
extension UInt16: WireInteger {}
extension UInt32: WireInteger {}
extension UInt64: WireInteger {}

extension UInt128: WireInteger {
    package var halves: (low: UInt64, high: UInt64) {
        (UInt64(truncatingIfNeeded: self), UInt64(truncatingIfNeeded: self &>> 64))
    }

    package init(low: UInt64, high: UInt64) { self = UInt128(high) &<< 64 | UInt128(low) }
}
