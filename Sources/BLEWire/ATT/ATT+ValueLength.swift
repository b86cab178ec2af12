extension ATT {
    /// The length of a value, 0 to 512 octets.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9.
    package struct ValueLength: WireField, Hashable {
        package let wire: UInt16

        /// Creates a length; returns `nil` if it is greater than 512 octets.
        package init?(wire: UInt16) {
            guard wire <= UInt16(maximumValueLength) else { return nil }
            self.wire = wire
        }

        /// Creates a length; returns `nil` if it is greater than 512 octets.
        package init?(octets: Int) {
            guard 0...maximumValueLength ~= octets else { return nil }
            wire = UInt16(octets)
        }

        private init() { wire = 0 }

        package static let zero = Self()
        package var octets: Int { Int(wire) }
    }
}
