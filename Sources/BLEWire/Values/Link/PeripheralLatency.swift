/// The number of connection events that a peripheral may skip while it has no data, 0 to 499.
///
/// Core 6.0, Vol 6, Part B, 4.5.1; Vol 4, Part E, 7.8.12.
package struct PeripheralLatency: WireField, Hashable, Comparable {
    package let wire: UInt16

    /// Creates a latency of `wire` events; returns `nil` if that is out of range.
    package init?(wire: UInt16) {
        guard wire <= 0x01F3 else { return nil }
        self.wire = wire
    }

    private init(valid wire: UInt16) { self.wire = wire }

    /// The peripheral listens in every connection event.
    package static let none = Self(valid: 0)
    package static func < (a: Self, b: Self) -> Bool { a.wire < b.wire }
}

extension PeripheralLatency: CustomStringConvertible {
    package var description: String { "\(wire) events" }
}
