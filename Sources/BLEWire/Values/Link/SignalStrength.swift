/// How strong a signal was when it arrived: -127 to 20 dBm, or unavailable.
///
/// Core 6.0, Vol 4, Part E, 7.5.4 and 7.7.65.2.
@usableFromInline package struct RSSI: WireField, Hashable, CustomStringConvertible {
    @usableFromInline package let wire: UInt8
    @inlinable package init(wire: UInt8) { self.wire = wire }

    /// Creates a strength; 127 means that it is unavailable.
    @inlinable package init(dBm: Int8) { wire = UInt8(bitPattern: dBm) }

    @inlinable package static var unavailable: Self { Self(dBm: 127) }

    /// The strength, or `nil` if the controller did not measure it.
    package var dBm: Int8? { self == .unavailable ? nil : Int8(bitPattern: wire) }
    @usableFromInline package var description: String { dBm.map { "\($0) dBm" } ?? "unavailable" }
}

/// How strong a signal is when it leaves: -127 to 20 dBm, or unavailable.
///
/// In a command, unavailable means that the host leaves the choice to the controller.
///
/// Core 6.0, Vol 4, Part E, 7.8.53 and 7.7.65.13.
@usableFromInline package struct TransmitPower: WireField, Hashable, CustomStringConvertible {
    @usableFromInline package let wire: UInt8
    @inlinable package init(wire: UInt8) { self.wire = wire }

    /// Creates a power; 127 means that it is unavailable or left open.
    @inlinable package init(dBm: Int8) { wire = UInt8(bitPattern: dBm) }

    @inlinable package static var unavailable: Self { Self(dBm: 127) }

    /// The power, or `nil` if it is unavailable or left open.
    package var dBm: Int8? { self == .unavailable ? nil : Int8(bitPattern: wire) }
    @usableFromInline package var description: String { dBm.map { "\($0) dBm" } ?? "unavailable" }
}
