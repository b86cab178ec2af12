extension ATT {
    /// Tells the client the value of an attribute, at most MTU − 3 octets of it, without an answer.
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

    /// Tells the client the value of an attribute, at most MTU − 3 octets of it, and waits for a confirmation.
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

    /// Confirms an indication.
    ///
    /// It has no fields, so one with any octet is malformed.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.7.3.
    package struct HandleValueConfirmation: Packet {
        package init() {}
        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Tells the client the values of several attributes, whole, without an answer.
    ///
    /// A server sends two or more; one alone is taken as well, since there are servers that send it.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.7.4.
    package struct MultipleHandleValueNotification: Packet {
        /// An attribute and its value.
        package struct Entry: Packet {
            /// How many octets come before a value.
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
            precondition(!entries.isEmpty, "a notification tells of something")
            self.entries = entries
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.list(&entries)
            guard !entries.isEmpty else { throw .truncated(field: "Handle Length Value Tuple List") }
        }
    }
}
