/// A received signal strength (RSSI): −127 to 20 dBm, or unavailable.
///
/// Core 6.0, Vol 4, Part E, 7.5.4 and 7.7.65.2.
@usableFromInline package struct RSSI: WireField, Hashable, CustomStringConvertible {
    @usableFromInline package let wire: UInt8
    @inlinable package init(wire: UInt8) { self.wire = wire }

    /// Creates a signal strength; 127 means unavailable.
    @inlinable package init(dBm: Int8) { wire = UInt8(bitPattern: dBm) }

    @inlinable package static var unavailable: Self { Self(dBm: 127) }

    /// The signal strength in dBm; `nil` if it is unavailable.
    package var dBm: Int8? { self == .unavailable ? nil : Int8(bitPattern: wire) }
    @usableFromInline package var description: String { dBm.map { "\($0) dBm" } ?? "unavailable" }
}

/// A transmit power: −127 to 20 dBm, or unavailable.
///
/// In a command, ``unavailable`` leaves the choice to the controller.
///
/// Core 6.0, Vol 4, Part E, 7.8.53 and 7.7.65.13.
@usableFromInline package struct TransmitPower: WireField, Hashable, CustomStringConvertible {
    @usableFromInline package let wire: UInt8
    @inlinable package init(wire: UInt8) { self.wire = wire }

    /// Creates a power; 127 means unavailable or no preference.
    @inlinable package init(dBm: Int8) { wire = UInt8(bitPattern: dBm) }

    @inlinable package static var unavailable: Self { Self(dBm: 127) }

    /// The power in dBm; `nil` if it is unavailable, or if a command states no preference.
    package var dBm: Int8? { self == .unavailable ? nil : Int8(bitPattern: wire) }
    @usableFromInline package var description: String { dBm.map { "\($0) dBm" } ?? "unavailable" }
}
