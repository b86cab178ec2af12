import BLEWire

extension SimulatedPeripheral {
    /// The device address of a simulated peripheral.
    ///
    /// A chosen address is useful in tests of programs that recognize devices by their addresses, such as gateways.
    ///
    /// Core 6.0, Vol 6, Part B, 1.3.
    public struct Address: Hashable, Sendable, CustomStringConvertible {
        /// The kind of an address.
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// Assigned to the manufacturer by the IEEE.
            case `public`
            /// Chosen by the device. The two highest bits are 1, so the address begins with C0 to FF.
            case `static`
        }

        /// The address as the device's host and controller use it.
        let device: DeviceAddress

        /// Creates an address.
        ///
        /// - Parameters:
        ///   - text: Six pairs of hexadecimal digits, separated by colons, such as `C0:FF:EE:00:00:01`.
        ///   - kind: The kind of the address.
        /// - Throws: The reason why no device can have the address.
        public init(_ text: String, _ kind: Kind = .static) throws(DescriptionError) {
            guard let device = DeviceAddress(text, kind == .public ? .public : .random) else {
                let reason = "“\(text)” is not six pairs of hexadecimal digits, separated by colons"
                throw DescriptionError(key: Self.key, reason: reason)
            }
            guard device.isIdentity else {
                let advice = "for a public address, set “addressType” to “public”"
                let reason = "the static address \(device) does not begin with C0 to FF; \(advice)"
                throw DescriptionError(key: Self.key, reason: reason)
            }
            let chosen = kind == .static ? Self.chosenBits : Self.allBits
            guard device.value & chosen != 0, kind == .public || device.value & chosen != chosen else {
                let rule = kind == .static ? "; the last 46 bits of a static address must not all be equal" : ""
                throw DescriptionError(key: Self.key, reason: "\(device) is reserved\(rule)")
            }
            self.device = device
        }

        /// The key of an address in a file.
        static let key = "address"
        private static let allBits: UInt64 = 0xFFFF_FFFF_FFFF
        /// The bits of a static address that a device chooses.
        ///
        /// Core 6.0, Vol 6, Part B, 1.3.2.1: they are neither all 0 nor all 1.
        private static let chosenBits: UInt64 = 0x3FFF_FFFF_FFFF

        /// The kind of the address.
        public var kind: Kind { device.kind == .public ? .public : .static }

        /// The address as text, such as `C0:FF:EE:00:00:01`.
        public var description: String { "\(device)" }
    }
}
