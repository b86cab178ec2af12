/// An integer of 8 to 128 bits in a field.
///
/// Generic code over this protocol needs two calls per field of any width where the compiler does not know the type, as
/// in the session messages of other modules.
package protocol WireInteger: FixedWidthInteger, UnsignedInteger, Sendable {
    /// The number of octets of the integer.
    static var octets: Int { get }
    /// The lower 64 bits, and the upper ones.
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
