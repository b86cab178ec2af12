extension HCI {
    /// The number of completed packets on one connection, which is also the number of returned credits.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.40 and 7.7.19.
    @usableFromInline
    package struct CompletedPackets: Packet, Hashable {
        @usableFromInline package var handle = ConnectionHandle.lowest
        @usableFromInline package var count: UInt16 = 0

        package init() {}
        @inlinable package init(handle: ConnectionHandle, count: UInt16) {
            self.handle = handle
            self.count = count
        }

        @inline(__always)
        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.integer(&count, "Num Completed Packets")
        }
    }

    /// A P-256 public key in wire order: two coordinates of 32 octets each, least significant first.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.8.
    package struct PublicKey: Packet, Hashable {
        package private(set) var x = [UInt8](repeating: 0, count: 32)
        package private(set) var y = [UInt8](repeating: 0, count: 32)

        package init() {}

        /// Creates a key from its coordinates; returns `nil` unless both have 32 octets.
        ///
        /// The initializer does not check that the point is on the curve.
        package init?(x: [UInt8], y: [UInt8]) {
            guard x.count == 32, y.count == 32 else { return nil }
            self.x = x
            self.y = y
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.bytes(&x, count: 32, "Key X Coordinate")
            try wire.bytes(&y, count: 32, "Key Y Coordinate")
        }
    }

    /// The version of the Core Specification that a controller implements; unknown versions are kept.
    ///
    /// Assigned Numbers, 2.1.
    package struct CoreVersion: WireField, Hashable, CustomStringConvertible {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let v4_2 = Self(wire: 8)
        package static let v5_0 = Self(wire: 9)
        package static let v5_1 = Self(wire: 10)
        package static let v5_3 = Self(wire: 12)
        package static let v5_4 = Self(wire: 13)
        package static let v6_0 = Self(wire: 14)

        package var description: String {
            let names = [
                "1.0b", "1.1", "1.2", "2.0", "2.1", "3.0", "4.0", "4.1", "4.2", "5.0", "5.1", "5.2", "5.3", "5.4",
                "6.0", "6.1",
            ]
            return wire < names.count ? "Core \(names[Int(wire)])" : "version 0x\(String(wire, radix: 16))"
        }
    }
}
