/// An integer type of 8 to 128 bits that a field can have.
///
/// Generic code that the compiler cannot specialize, as in the session messages of other modules, needs only two calls
/// through this protocol per field.
package protocol WireInteger: FixedWidthInteger, UnsignedInteger, Sendable {
    /// The number of octets in the integer.
    static var octets: Int { get }
    /// The lower 64 bits and the upper 64 bits.
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
