extension ATT {
    /// The response to ``ReadByTypeRequest``: handles and values.
    ///
    /// All values have the same length.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.2.
    package struct ReadByTypeResponse: Packet {
        /// An attribute and its value, or the beginning of the value if the whole value does not fit.
        package struct Entry: Equatable, Sendable {
            package let handle: AttributeHandle
            package let value: ArraySlice<UInt8>
        }

        /// The length of the longest value that an entry can hold, in octets.
        package static let maximumValueLength = 253

        /// The entries, at least one, in ascending order of handles.
        package private(set) var entries = Entries()

        package init() {}

        /// Creates a response from entries with values of at most ``maximumValueLength`` octets.
        package init(entries: Entries) {
            precondition(!entries.isEmpty, "a response must have at least one entry")
            precondition(
                entries.valueLength <= Self.maximumValueLength,
                "the length of an entry must fit into one octet"
            )
            self.entries = entries
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            var length = UInt8(truncatingIfNeeded: 2 + entries.valueLength)
            try wire.integer(&length, "Length")
            guard length >= 2 else { throw .reserved(field: "Length") }
            entries.valueLength = Int(length) - 2
            try wire.valueList(&entries.octets, length: entries.valueLength, "Attribute Handle", "Attribute Value")
            guard !entries.isEmpty else { throw .truncated(field: "Attribute Data List") }
        }

        /// A list of handles with values that all have the same length, stored in one array.
        package struct Entries: Equatable, Sendable, RandomAccessCollection {
            /// The length of each value, in octets.
            package fileprivate(set) var valueLength = 0
            /// The entries one after the other: first the handle, least significant octet first, then the value.
            fileprivate var octets: [UInt8] = []

            package init() {}

            package var startIndex: Int { 0 }
            package var endIndex: Int { count }
            // The standard library's default implementations of `count` and `isEmpty` take longer.
            package var count: Int { octets.count / (2 + valueLength) }
            package var isEmpty: Bool { octets.isEmpty }

            package subscript(position: Int) -> Entry {
                let start = position * (2 + valueLength)
                let handle = UInt16(octets[start]) | UInt16(octets[start + 1]) << 8
                return Entry(
                    handle: AttributeHandle(wire: handle),
                    value: octets[(start + 2)..<(start + 2 + valueLength)]
                )
            }

            /// Adds an entry.
            ///
            /// The value must be as long as the previous values.
            package mutating func append(_ handle: AttributeHandle, _ value: ArraySlice<UInt8>) {
                precondition(
                    isEmpty || value.count == valueLength,
                    "all values in a response must have the same length"
                )
                valueLength = value.count
                octets.append(UInt8(truncatingIfNeeded: handle.wire))
                octets.append(UInt8(truncatingIfNeeded: handle.wire >> 8))
                octets.append(contentsOf: value)
            }

            /// Adds an entry if its value is as long as the previous values and the packet still fits into `mtu`
            /// octets.
            ///
            /// If the first value does not fit, it is cut off.
            ///
            /// - Returns: True if the complete value was added. If false, no more entries may be added.
            @discardableResult
            package mutating func append(_ handle: AttributeHandle, _ value: [UInt8], mtu: Int) -> Bool {
                guard isEmpty else {
                    guard value.count == valueLength, octets.count + 2 + valueLength <= mtu - 2 else { return false }
                    append(handle, value[...])
                    return true
                }
                octets.reserveCapacity(Swift.min(mtu, ATT.maximumMTU) - 2)
                let room = Swift.min(mtu - 4, ATT.ReadByTypeResponse.maximumValueLength)
                append(handle, value.prefix(room))
                return value.count <= room
            }
        }
    }
}
