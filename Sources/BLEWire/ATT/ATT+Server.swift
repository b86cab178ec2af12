extension ATT {
    /// A value of at most MTU − 3 octets that the server sends without a request, and that the client does not
    /// acknowledge.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.7.1.
    package struct HandleValueNotification: Packet {
        package var handle: AttributeHandle
        package var value: [UInt8]

        package init() { self.init(handle: .none, value: []) }
        package init(handle: AttributeHandle, value: [UInt8]) {
            self.handle = handle
            self.value = value
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Attribute Handle")
            try wire.rest(&value, "Attribute Value")
        }
    }

    /// A value of at most MTU − 3 octets that the server sends without a request, and that the client confirms.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.7.2.
    package struct HandleValueIndication: Packet {
        package var handle: AttributeHandle
        package var value: [UInt8]

        package init() { self.init(handle: .none, value: []) }
        package init(handle: AttributeHandle, value: [UInt8]) {
            self.handle = handle
            self.value = value
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Attribute Handle")
            try wire.rest(&value, "Attribute Value")
        }
    }

    /// The confirmation of an indication.
    ///
    /// It has no fields; a packet with any octet after the opcode is malformed.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.7.3.
    package struct HandleValueConfirmation: Packet {
        package init() {}
        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Several complete values that the server sends without a request, and that the client does not acknowledge.
    ///
    /// A server should send two or more values. A single value is accepted, too, because some servers send only one.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.7.4.
    package struct MultipleHandleValueNotification: Packet {
        /// An attribute and its value.
        package struct Entry: Packet {
            /// The size of the attribute handle and the length field in front of the value, in octets.
            package static var headerSize: Int { 4 }

            package var handle: AttributeHandle
            package private(set) var value: [UInt8]

            package init() { self.init(handle: .none, value: []) }
            package init(handle: AttributeHandle, value: [UInt8]) {
                precondition(value.count <= ATT.maximumValueLength, "a value has at most 512 octets")
                self.handle = handle
                self.value = value
            }

            package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
                try wire.field(&handle, "Attribute Handle")
                var length = ValueLength(octets: value.count) ?? .zero
                try wire.field(&length, "Value Length")
                try wire.bytes(&value, count: length.octets, "Attribute Value")
            }
        }

        package private(set) var entries: [Entry]

        package init() { entries = [] }
        package init(entries: [Entry]) {
            precondition(!entries.isEmpty, "a notification must have at least one value")
            self.entries = entries
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.list(&entries)
            guard !entries.isEmpty else { throw .truncated(field: "Handle Length Value Tuple List") }
        }
    }
}
