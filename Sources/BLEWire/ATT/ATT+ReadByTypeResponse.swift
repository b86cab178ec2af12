extension ATT {
    /// Answers with handles and values, all of the values as long as each other.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.2.
    package struct ReadByTypeResponse: Packet {
        /// An attribute and its value, or the beginning of it.
        package struct Entry: Equatable, Sendable {
            package let handle: AttributeHandle
            package let value: ArraySlice<UInt8>
        }

        /// The length of the longest value that an entry can hold, in octets.
        package static let maximumValueLength = 253

        /// At least one, in ascending order of handles.
        package private(set) var entries = Entries()

        package init() {}

        /// Creates a response from entries whose values are no longer than ``maximumValueLength``.
        package init(entries: Entries) {
            precondition(!entries.isEmpty, "a response that finds something has an entry")
            precondition(entries.valueLength <= Self.maximumValueLength, "an entry's length is one octet")
            self.entries = entries
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            var length = UInt8(truncatingIfNeeded: 2 + entries.valueLength)
            try wire.integer(&length, "Length")
            guard length >= 2 else { throw .reserved(field: "Length") }
            var index = 0, value: [UInt8] = []
            while wire.hasElement(at: index, of: entries.count) {
                var handle = AttributeHandle.none
                if index < entries.count { handle = entries.copy(index, &value) }
                try wire.field(&handle, "Attribute Handle")
                try wire.bytes(&value, count: Int(length) - 2, "Attribute Value")
                if index == entries.count { entries.append(handle, value[...]) }
                index += 1
            }
            guard index > 0 else { throw .truncated(field: "Attribute Data List") }
        }

        /// Handles with values of one length, all octets in one place.
        package struct Entries: Equatable, Sendable, RandomAccessCollection {
            /// The length of each value, in octets.
            package private(set) var valueLength = 0
            /// Of each entry the handle, its less significant octet first, and the value.
            private var octets: [UInt8] = []

            package init() {}

            package var startIndex: Int { 0 }
            package var endIndex: Int { octets.count / (2 + valueLength) }

            package subscript(position: Int) -> Entry {
                let start = position * (2 + valueLength)
                let handle = UInt16(octets[start]) | UInt16(octets[start + 1]) << 8
                return Entry(
                    handle: AttributeHandle(wire: handle),
                    value: octets[(start + 2)..<(start + 2 + valueLength)]
                )
            }

            /// Adds an entry, whose value has the length of those before.
            package mutating func append(_ handle: AttributeHandle, _ value: ArraySlice<UInt8>) {
                precondition(isEmpty || value.count == valueLength, "values in a response share a length")
                valueLength = value.count
                octets.append(UInt8(truncatingIfNeeded: handle.wire))
                octets.append(UInt8(truncatingIfNeeded: handle.wire >> 8))
                octets.append(contentsOf: value)
            }

            /// Copies the value at a position to where there may be room for it, and returns the handle.
            fileprivate func copy(_ position: Int, _ value: inout [UInt8]) -> AttributeHandle {
                let entry = self[position]
                value.removeAll(keepingCapacity: true)
                value.append(contentsOf: entry.value)
                return entry.handle
            }
        }
    }
}
