extension ATT {
    /// A request for the value of an attribute, starting at its beginning.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.3.
    package struct ReadRequest: Packet {
        package var handle: AttributeHandle

        package init() { self.init(handle: .none) }
        package init(handle: AttributeHandle) { self.handle = handle }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Attribute Handle")
        }
    }

    /// The response to ``ReadRequest``: a value, or its first MTU − 1 octets if it is longer.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.4.
    package struct ReadResponse: Packet {
        package var value: [UInt8]

        package init() { self.init(value: []) }
        package init(value: [UInt8]) { self.value = value }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.rest(&value, "Attribute Value")
        }
    }

    /// A request for the value of an attribute, starting at an offset.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.5.
    package struct ReadBlobRequest: Packet {
        package var handle: AttributeHandle
        /// The first octet to return, counted from 0.
        package var offset: UInt16

        package init() { self.init(handle: .none, offset: 0) }
        package init(handle: AttributeHandle, offset: UInt16) {
            self.handle = handle
            self.offset = offset
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Attribute Handle")
            try wire.integer(&offset, "Value Offset")
        }
    }

    /// The response to ``ReadBlobRequest``: up to MTU − 1 octets of a value; no octets if the offset equals the length
    /// of the value.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.6.
    package struct ReadBlobResponse: Packet {
        package var part: [UInt8]

        package init() { self.init(part: []) }
        package init(part: [UInt8]) { self.part = part }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.rest(&part, "Part Attribute Value")
        }
    }

    /// A request for the values of several attributes.
    ///
    /// The client must know the lengths of all values except the last one.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.7.
    package struct ReadMultipleRequest: Packet {
        /// Two or more handles, in the order in which the values are returned.
        package private(set) var handles: [AttributeHandle]

        package init() { handles = [] }
        package init(handles: [AttributeHandle]) {
            precondition(handles.count >= 2, "a request must have at least two handles")
            self.handles = handles
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.fields(&handles, blank: .none, "Set Of Handles")
            guard handles.count >= 2 else { throw .truncated(field: "Set Of Handles") }
        }
    }

    /// The response to ``ReadMultipleRequest``: the values one after the other, cut off after MTU − 1 octets.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.8.
    package struct ReadMultipleResponse: Packet {
        package var values: [UInt8]

        package init() { self.init(values: []) }
        package init(values: [UInt8]) { self.values = values }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.rest(&values, "Set Of Values")
        }
    }

    /// A request for the values of several attributes; the client need not know the lengths of the values.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.11.
    package struct ReadMultipleVariableRequest: Packet {
        /// Two or more handles, in the order in which the values are returned.
        package private(set) var handles: [AttributeHandle]

        package init() { handles = [] }
        package init(handles: [AttributeHandle]) {
            precondition(handles.count >= 2, "a request must have at least two handles")
            self.handles = handles
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.fields(&handles, blank: .none, "Set Of Handles")
            guard handles.count >= 2 else { throw .truncated(field: "Set Of Handles") }
        }
    }

    /// The response to ``ReadMultipleVariableRequest``: the values with their lengths.
    ///
    /// The last value is cut off if it does not fit into the MTU.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.12.
    package struct ReadMultipleVariableResponse: Packet {
        /// A value and its full length on the server.
        package struct Entry: Equatable, Sendable {
            package fileprivate(set) var length: ValueLength
            /// The value: ``length`` octets, or fewer if it is cut off.
            package fileprivate(set) var value: [UInt8]

            /// True if the value is incomplete, because it did not fit into the packet.
            package var isCutOff: Bool { value.count < length.octets }
        }

        package private(set) var entries: [Entry]

        package init() { entries = [] }

        /// Creates a response with values of at most 512 octets each, cut off where the packet reaches `mtu` octets.
        ///
        /// A value whose length field does not fit is left out.
        package init(values: [[UInt8]], mtu: Int) {
            entries = []
            var room = mtu - 1
            for value in values where room >= 2 {
                guard let length = ValueLength(octets: value.count) else {
                    preconditionFailure("a value has at most \(ATT.maximumValueLength) octets")
                }
                entries.append(Entry(length: length, value: [UInt8](value.prefix(room - 2))))
                room -= 2 + value.count
            }
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            var index = 0
            while wire.hasElement(at: index, of: entries.count) {
                if index == entries.count { entries.append(Entry(length: .zero, value: [])) }
                try wire.field(&entries[index].length, "Value Length")
                let present = try wire.extent(
                    entries[index].value.count,
                    before: 0,
                    limit: entries[index].length.octets,
                    "Attribute Value"
                )
                try wire.bytes(&entries[index].value, count: present, "Attribute Value")
                index += 1
            }
            guard index > 0 else { throw .truncated(field: "Length Value Tuple List") }
        }
    }
}
