/// The Attribute Protocol (ATT), which clients use to discover, read and write the attributes of a server.
///
/// Core 6.0, Vol 3, Part F.
@usableFromInline package enum ATT {
    /// The MTU of an ATT bearer before the MTU exchange, in octets.
    ///
    /// Core 6.0, Vol 3, Part G, 5.2.1.
    @inlinable package static var defaultMTU: Int { 23 }

    /// The largest useful ATT MTU, in octets: the size of a prepare write request for a whole value of the maximum
    /// length.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.8 and 3.4.6.1.
    @inlinable package static var maximumMTU: Int { 517 }

    /// The maximum length of an attribute value, in octets.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9.
    @inlinable package static var maximumValueLength: Int { 512 }

    /// Returns the maximum length, in octets, of a value in a notification or indication if the MTU is `mtu`.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9, 3.4.7.1 and 3.4.7.2.
    @inlinable @inline(__always)
    package static func roomForValue(mtu: Int) -> Int { min(mtu - 3, maximumValueLength) }

    /// The time within which a response or confirmation must arrive.
    ///
    /// If it does not arrive in time, the bearer is closed.
    ///
    /// Core 6.0, Vol 3, Part F, 3.3.3.
    package static let transactionTimeout = Duration.nanoseconds(transactionNanoseconds)

    /// ``transactionTimeout`` in nanoseconds.
    @inlinable package static var transactionNanoseconds: Int64 { 30_000_000_000 }
}

extension ATT {
    /// A request that announces the client's receive MTU and asks for the server's.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.2.1.
    package struct ExchangeMTURequest: Packet {
        /// The receive MTU of the client, in octets.
        ///
        /// A peer that sends a value below ``ATT/defaultMTU`` violates the specification.
        package var clientMTU: UInt16

        package init() { self.init(clientMTU: UInt16(defaultMTU)) }
        package init(clientMTU: UInt16) { self.clientMTU = clientMTU }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&clientMTU, "Client Rx MTU")
        }
    }

    /// The response with the server's receive MTU.
    ///
    /// After this response, the smaller of the client's and the server's MTU applies to the bearer.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.2.2.
    package struct ExchangeMTUResponse: Packet {
        /// The receive MTU of the server, in octets.
        ///
        /// A peer that sends a value below ``ATT/defaultMTU`` violates the specification.
        package var serverMTU: UInt16

        package init() { self.init(serverMTU: UInt16(defaultMTU)) }
        package init(serverMTU: UInt16) { self.serverMTU = serverMTU }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&serverMTU, "Server Rx MTU")
        }
    }
}

extension ATT {
    /// The length of a value, 0 to 512 octets.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.9.
    package struct ValueLength: WireField, Hashable {
        package let wire: UInt16

        /// Creates a length of `wire` octets; returns `nil` if `wire` is greater than 512.
        package init?(wire: UInt16) {
            guard wire <= UInt16(maximumValueLength) else { return nil }
            self.wire = wire
        }

        /// Creates a length of `octets` octets; returns `nil` if `octets` is negative or greater than 512.
        package init?(octets: Int) {
            guard 0...maximumValueLength ~= octets else { return nil }
            wire = UInt16(octets)
        }

        private init() { wire = 0 }

        package static let zero = Self()
        package var octets: Int { Int(wire) }
    }
}
