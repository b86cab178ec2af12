/// The accuracy of a central's sleep clock.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.1; Vol 6, Part B, 4.2.2.
package struct ClockAccuracy: WireField, Hashable, CustomStringConvertible {
    package let wire: UInt8
    package init(wire: UInt8) { self.wire = wire }

    /// The maximum deviation in parts per million; `nil` for a reserved code.
    package var partsPerMillion: Int? {
        let table = [500, 250, 150, 100, 75, 50, 30, 20]
        return wire < table.count ? table[Int(wire)] : nil
    }

    package var description: String { partsPerMillion.map { "\($0) ppm" } ?? "reserved (0x\(String(wire, radix: 16)))" }
}
