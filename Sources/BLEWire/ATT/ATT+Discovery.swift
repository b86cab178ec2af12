extension ATT {
    /// A request for the types of the attributes in a range.
    ///
    /// Clients use it to discover descriptors.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.3.1.
    package struct FindInformationRequest: Packet {
        package var start: AttributeHandle
        package var end: AttributeHandle

        package init() { self.init(start: .none, end: .none) }
        package init(_ range: AttributeHandleRange) { self.init(start: range.start, end: range.end) }
        package init(start: AttributeHandle, end: AttributeHandle) {
            self.start = start
            self.end = end
        }

        /// The range to search; `nil` if the peer sent an invalid range.
        package var range: AttributeHandleRange? { AttributeHandleRange(start, end) }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&start, "Starting Handle")
            try wire.field(&end, "Ending Handle")
        }
    }

    /// The response to ``FindInformationRequest``: attribute handles and types, with all types in the same format.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.3.2.
    package struct FindInformationResponse: Packet {
        /// The format of all attribute types in a response: 16 or 128 bits.
        package enum Format: UInt8, WireField {
            case short = 1, full = 2

            package init?(wire: UInt8) { self.init(rawValue: wire) }
            package var wire: UInt8 { rawValue }

            /// The length of one type, in octets.
            package var octets: Int { self == .short ? 2 : 16 }

            /// Selects the format for `type`.
            package init(of type: BluetoothUUID) {
                if case .short = type.attributeForm { self = .short } else { self = .full }
            }
        }

        /// An attribute and its type.
        package struct Entry: Equatable, Sendable {
            package var handle: AttributeHandle
            package var type: BluetoothUUID

            package init(handle: AttributeHandle, type: BluetoothUUID) {
                self.handle = handle
                self.type = type
            }
        }

        package private(set) var format: Format
        /// The entries, at least one, in ascending order of handles.
        package private(set) var entries: [Entry]

        package init() { (format, entries) = (.short, []) }

        /// Creates a response in the format that the first entry needs; all other entries must need the same format.
        package init(entries: [Entry]) {
            let format = entries.first.map { Format(of: $0.type) } ?? .short
            precondition(!entries.isEmpty, "a response must have at least one entry")
            precondition(
                entries.allSatisfy { Format(of: $0.type) == format },
                "all types in a response must have the same format"
            )
            self.format = format
            self.entries = entries
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&format, "Format")
            var index = 0
            while wire.hasElement(at: index, of: entries.count) {
                if index == entries.count { entries.append(Entry(handle: .none, type: .short(0))) }
                try wire.field(&entries[index].handle, "Handle")
                try wire.uuid(&entries[index].type, octets: format.octets, "UUID")
                index += 1
            }
            guard index > 0 else { throw .truncated(field: "Information Data") }
        }
    }

    /// A request for all attributes that have a given type and value, and for the end of the group that each of them
    /// starts.
    ///
    /// Clients use it to find a primary service by its UUID.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.3.3.
    package struct FindByTypeValueRequest: Packet {
        package var start: AttributeHandle
        package var end: AttributeHandle
        /// The attribute type, which must have a 16-bit form.
        package var type: UInt16
        package var value: [UInt8]

        package init() { (start, end, type, value) = (.none, .none, 0, []) }
        package init(_ range: AttributeHandleRange, type: UInt16, value: [UInt8]) {
            (start, end) = (range.start, range.end)
            self.type = type
            self.value = value
        }

        /// The range to search; `nil` if the peer sent an invalid range.
        package var range: AttributeHandleRange? { AttributeHandleRange(start, end) }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&start, "Starting Handle")
            try wire.field(&end, "Ending Handle")
            try wire.integer(&type, "Attribute Type")
            try wire.rest(&value, "Attribute Value")
        }
    }

    /// The response to ``FindByTypeValueRequest``: the handle ranges of the groups that were found.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.3.4.
    package struct FindByTypeValueResponse: Packet {
        /// A found attribute, and the end of the group that it starts.
        package struct Entry: Packet {
            package var found: AttributeHandle
            package var groupEnd: AttributeHandle

            package init() { (found, groupEnd) = (.none, .none) }
            package init(_ range: AttributeHandleRange) { (found, groupEnd) = (range.start, range.end) }

            /// The range of the group; `nil` if the peer sent an invalid range.
            package var range: AttributeHandleRange? { AttributeHandleRange(found, groupEnd) }

            package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
                try wire.field(&found, "Found Attribute Handle")
                try wire.field(&groupEnd, "Group End Handle")
            }
        }

        /// The entries, at least one, in ascending order of handles.
        package private(set) var entries: [Entry]

        package init() { entries = [] }
        package init(entries: [Entry]) {
            precondition(!entries.isEmpty, "a response must have at least one entry")
            self.entries = entries
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.list(&entries)
            guard !entries.isEmpty else { throw .truncated(field: "Handles Information List") }
        }
    }
}
