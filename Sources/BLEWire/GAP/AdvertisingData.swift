/// The contents of an advertisement or scan response: a list of structures, each with a type and data.
///
/// Decoding never fails: a structure that cannot be read is dropped, and ``fault`` says why. Structures keep their
/// order, and a type may occur several times.
///
/// Core 6.0, Vol 3, Part C, 11.
package struct AdvertisingData: Equatable, Sendable {
    /// The maximum length of legacy advertising data or scan response data, in octets.
    package static let maximumLegacyLength = 31
    /// The maximum length of extended advertising data in all packets of a chain together, in octets.
    package static let maximumExtendedLength = 1650

    /// A type and its data.
    package struct Structure: Equatable, Sendable {
        /// The maximum length of the data, in octets.
        ///
        /// The length field has one octet, and its value includes the type.
        package static let maximumDataLength = 254

        package let type: ADType
        package let data: [UInt8]

        /// Creates a structure; `data` has at most ``maximumDataLength`` octets.
        package init(_ type: ADType, _ data: [UInt8]) {
            precondition(data.count <= Self.maximumDataLength, "a structure holds at most 254 octets")
            self.type = type
            self.data = data
        }

        /// The length of the encoded structure, including its length and type octets.
        package var encodedLength: Int { 2 + data.count }
    }

    /// An error in decoded data.
    package enum Fault: Equatable, Sendable {
        /// The structure at `offset` extends past the end of the data, and was dropped.
        ///
        /// The type is `nil` if the data ends before the structure's type.
        case overrun(ADType?, offset: Int)
    }

    package private(set) var structures: [Structure]
    /// The error in the decoded data; `nil` if the data is well-formed.
    package private(set) var fault: Fault?

    package init(_ structures: [Structure] = []) { self.structures = structures }

    /// Decodes data up to its end, or up to a structure of length zero, which ends the data early.
    package init(decoding bytes: Span<UInt8>) {
        structures = []
        var offset = 0
        while let (type, range) = Self.structure(at: offset, in: bytes) {
            structures.append(Structure(type, [UInt8](copying: bytes.extracting(range))))
            offset = range.upperBound
        }
        guard offset < bytes.count, bytes[offset] > 0 else { return }
        let type = offset + 1 < bytes.count ? ADType(wire: bytes[offset + 1]) : nil
        fault = .overrun(type, offset: offset)
    }

    /// Decodes data up to its end, or up to a structure of length zero, which ends the data early.
    package init(decoding bytes: [UInt8]) { self.init(decoding: bytes.span) }

    /// The octets of all structures, without padding.
    package var encoded: [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(encodedLength)
        for structure in structures {
            octets.append(UInt8(structure.data.count + 1))
            octets.append(structure.type.wire)
            octets.append(contentsOf: structure.data)
        }
        return octets
    }

    /// The length of all encoded structures together, in octets.
    package var encodedLength: Int { structures.reduce(0) { $0 + $1.encodedLength } }

    /// Returns the data of all structures of a type, in order.
    package func data(of type: ADType) -> [[UInt8]] {
        structures.filter { $0.type == type }.map(\.data)
    }

    /// Returns the data of the first structure of a type; `nil` if there is none.
    package func firstData(of type: ADType) -> [UInt8]? {
        structures.first { $0.type == type }?.data
    }

    /// Returns the type of the structure that begins at `offset` in encoded advertising data, and the range of its
    /// data.
    ///
    /// Returns `nil` at the end of the advertising data, or if the structure extends past that end.
    ///
    /// The next structure begins where the range ends.
    static func structure(at offset: Int, in octets: Span<UInt8>) -> (type: ADType, data: Range<Int>)? {
        guard offset < octets.count else { return nil }
        let length = Int(octets[offset])
        guard length > 0, length < octets.count - offset else { return nil }
        return (ADType(wire: octets[offset + 1]), (offset + 2)..<(offset + 1 + length))
    }

    /// A description with one field per structure: its length, type and data.
    package var dissection: DissectedLayer {
        var fields: [PacketDissector.Field] = [], offset = 0
        for structure in structures {
            fields.append(
                PacketDissector.Field(
                    name: structure.type.description,
                    range: offset..<(offset + structure.encodedLength),
                    text: structure.text
                )
            )
            offset += structure.encodedLength
        }
        return DissectedLayer(name: "Advertising Data", fields: fields)
    }
}
