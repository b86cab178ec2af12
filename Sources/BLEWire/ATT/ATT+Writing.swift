extension ATT {
    /// A write that the server acknowledges.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.5.1.
    package struct WriteRequest: Packet {
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

    /// The response to a successful write request.
    ///
    /// It has no fields; a packet with any octet after the opcode is malformed.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.5.2.
    package struct WriteResponse: Packet {
        package init() {}
        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// A write that the server does not acknowledge.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.5.3.
    package struct WriteCommand: Packet {
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

    /// A write that the server does not acknowledge, with a signature that authenticates the client.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.5.4 and 3.3.1.
    package struct SignedWriteCommand: Packet {
        /// The length of ``signature``, in octets.
        package static let signatureLength = 12

        package var handle: AttributeHandle
        package var value: [UInt8]
        /// The signature of twelve octets: a 4-octet counter and an 8-octet authentication code.
        package private(set) var signature: [UInt8]

        package init() {
            self.init(handle: .none, value: [], signature: [UInt8](repeating: 0, count: Self.signatureLength))
        }

        package init(handle: AttributeHandle, value: [UInt8], signature: [UInt8]) {
            precondition(signature.count == Self.signatureLength, "a signature has twelve octets")
            self.handle = handle
            self.value = value
            self.signature = signature
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Attribute Handle")
            let length = try wire.extent(
                value.count,
                before: Self.signatureLength,
                limit: nil,
                "Authentication Signature"
            )
            try wire.bytes(&value, count: length, "Attribute Value")
            try wire.bytes(&signature, count: Self.signatureLength, "Authentication Signature")
        }
    }

    /// A request to queue a part of a value until the client executes or cancels the write.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.6.1.
    package struct PrepareWriteRequest: Packet {
        package var handle: AttributeHandle
        /// The offset of the part in the value, counted from 0.
        package var offset: UInt16
        package var part: [UInt8]

        package init() { self.init(handle: .none, offset: 0, part: []) }
        package init(handle: AttributeHandle, offset: UInt16, part: [UInt8]) {
            self.handle = handle
            self.offset = offset
            self.part = part
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Attribute Handle")
            try wire.integer(&offset, "Value Offset")
            try wire.rest(&part, "Part Attribute Value")
        }
    }

    /// The response to ``PrepareWriteRequest``, with a copy of the queued part.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.6.2.
    package struct PrepareWriteResponse: Packet {
        package var handle: AttributeHandle
        package var offset: UInt16
        package var part: [UInt8]

        package init() { self.init(handle: .none, offset: 0, part: []) }
        package init(handle: AttributeHandle, offset: UInt16, part: [UInt8]) {
            self.handle = handle
            self.offset = offset
            self.part = part
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Attribute Handle")
            try wire.integer(&offset, "Value Offset")
            try wire.rest(&part, "Part Attribute Value")
        }
    }

    /// A request to execute or cancel the queued writes.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.6.3.
    package struct ExecuteWriteRequest: Packet {
        /// The client's decision to write the queued parts or to drop them.
        package enum Decision: UInt8, WireField, CustomStringConvertible {
            case cancel = 0, write = 1

            package init?(wire: UInt8) { self.init(rawValue: wire) }
            package var wire: UInt8 { rawValue }
            package var description: String { self == .cancel ? "cancel all" : "write all" }
        }

        package var decision: Decision

        package init() { self.init(.cancel) }
        package init(_ decision: Decision) { self.decision = decision }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&decision, "Flags")
        }
    }

    /// The response to ``ExecuteWriteRequest``, after the server has written or dropped the queued parts.
    ///
    /// It has no fields; a packet with any octet after the opcode is malformed.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.6.4.
    package struct ExecuteWriteResponse: Packet {
        package init() {}
        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }
}
