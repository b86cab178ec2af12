extension ATT {
    /// A request for the value of an attribute, from its beginning.
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

    /// The response with the first MTU − 1 octets of a value.
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

    /// The response with up to MTU − 1 octets of a value; empty if the offset is at its end.
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

    /// A request for several values.
    ///
    /// The client must know the lengths of all but the last.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.7.
    package struct ReadMultipleRequest: Packet {
        /// Two or more handles, in the order in which the values are returned.
        package private(set) var handles: [AttributeHandle]

        package init() { handles = [] }
        package init(handles: [AttributeHandle]) {
            precondition(handles.count >= 2, "several values are asked for")
            self.handles = handles
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.fields(&handles, blank: .none, "Set Of Handles")
            guard handles.count >= 2 else { throw .truncated(field: "Set Of Handles") }
        }
    }

    /// The response with concatenated values, cut after MTU − 1 octets.
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

    /// A request for several values of any length.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.11.
    package struct ReadMultipleVariableRequest: Packet {
        /// Two or more handles, in the order in which the values are returned.
        package private(set) var handles: [AttributeHandle]

        package init() { handles = [] }
        package init(handles: [AttributeHandle]) {
            precondition(handles.count >= 2, "several values are asked for")
            self.handles = handles
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.fields(&handles, blank: .none, "Set Of Handles")
            guard handles.count >= 2 else { throw .truncated(field: "Set Of Handles") }
        }
    }

    /// The response with values and their lengths.
    ///
    /// The last value may be cut by the MTU.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.12.
    package struct ReadMultipleVariableResponse: Packet {
        /// A value and its full length on the server.
        package struct Entry: Equatable, Sendable {
            package fileprivate(set) var length: ValueLength
            /// ``length`` octets, or fewer in the last entry.
            package fileprivate(set) var value: [UInt8]

            /// True if the value did not fit into the packet.
            package var isCutOff: Bool { value.count < length.octets }
        }

        package private(set) var entries: [Entry]

        package init() { entries = [] }

        /// Creates a response with values of at most 512 octets each, cut so that the packet fits `mtu`.
        ///
        /// If a length field itself does not fit, it is left out together with its value.
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
