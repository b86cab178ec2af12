extension ATT {
    /// A request for the values of all attributes of a type.
    ///
    /// Clients use it to discover characteristics and included services.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.1.
    package struct ReadByTypeRequest: Packet {
        package var start: AttributeHandle
        package var end: AttributeHandle
        package var type: BluetoothUUID

        package init() { (start, end, type) = (.none, .none, .short(0)) }
        package init(_ range: AttributeHandleRange, type: BluetoothUUID) {
            (start, end) = (range.start, range.end)
            self.type = type
        }

        /// The range to search; `nil` if the peer sent an invalid range.
        package var range: AttributeHandleRange? { AttributeHandleRange(start, end) }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&start, "Starting Handle")
            try wire.field(&end, "Ending Handle")
            try wire.uuid(&type, "Attribute Type")
        }
    }

    /// A request for all groups that start with an attribute of a given type, and for the values of these attributes.
    ///
    /// Clients use it to discover services.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.9.
    package struct ReadByGroupTypeRequest: Packet {
        package var start: AttributeHandle
        package var end: AttributeHandle
        package var groupType: BluetoothUUID

        package init() { (start, end, groupType) = (.none, .none, .short(0)) }
        package init(_ range: AttributeHandleRange, groupType: BluetoothUUID) {
            (start, end) = (range.start, range.end)
            self.groupType = groupType
        }

        /// The range to search; `nil` if the peer sent an invalid range.
        package var range: AttributeHandleRange? { AttributeHandleRange(start, end) }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&start, "Starting Handle")
            try wire.field(&end, "Ending Handle")
            try wire.uuid(&groupType, "Attribute Group Type")
        }
    }

    /// The response to ``ReadByGroupTypeRequest``: groups, and the values of the attributes that start them.
    ///
    /// All values have the same length.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.10.
    package struct ReadByGroupTypeResponse: Packet {
        /// A group and the value of the attribute that starts it.
        package struct Entry: Equatable, Sendable {
            package var start: AttributeHandle
            package var end: AttributeHandle
            package var value: [UInt8]

            package init(_ range: AttributeHandleRange, value: [UInt8]) {
                (start, end) = (range.start, range.end)
                self.value = value
            }

            fileprivate init() { (start, end, value) = (.none, .none, []) }

            /// The range of the group; `nil` if the peer sent an invalid range.
            package var range: AttributeHandleRange? { AttributeHandleRange(start, end) }
        }

        /// The length of the longest value that an entry can hold, in octets.
        package static let maximumValueLength = 251

        /// The entries, at least one, in ascending order of handles.
        package private(set) var entries: [Entry]

        package init() { entries = [] }

        /// Creates a response from entries whose values all have the same length, at most ``maximumValueLength``.
        package init(entries: [Entry]) {
            let length = entries.first?.value.count ?? 0
            precondition(!entries.isEmpty, "a response must have at least one entry")
            precondition(length <= Self.maximumValueLength, "the length of an entry must fit into one octet")
            precondition(
                entries.allSatisfy { $0.value.count == length },
                "all values in a response must have the same length"
            )
            self.entries = entries
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            var length = UInt8(truncatingIfNeeded: 4 + (entries.first?.value.count ?? 0))
            try wire.integer(&length, "Length")
            guard length >= 4 else { throw .reserved(field: "Length") }
            var index = 0
            while wire.hasElement(at: index, of: entries.count) {
                if index == entries.count { entries.append(Entry()) }
                try wire.field(&entries[index].start, "Attribute Handle")
                try wire.field(&entries[index].end, "End Group Handle")
                try wire.bytes(&entries[index].value, count: Int(length) - 4, "Attribute Value")
                index += 1
            }
            guard index > 0 else { throw .truncated(field: "Attribute Data List") }
        }
    }
}
