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
