/// A visitor of the fields of a packet in wire order.
///
/// A decoder sets the fields, an encoder writes them, a dissector describes them, and a generator fills them with
/// random values.
///
/// A packet lists its fields only once, in ``Packet/layout(_:)``. Each operation on packets is a type that conforms to
/// `Wire`.
package protocol Wire: ~Copyable, ~Escapable {
    /// Visits an integer, least significant octet first.
    mutating func integer<T: WireInteger>(
        _ value: inout T,
        _ name: StaticString
    ) throws(PacketError)

    /// Visits an integer of 1 to 8 octets, least significant first.
    ///
    /// It is for widths that have no integer type, such as a device address (6 octets) or an extended advertising
    /// interval (3 octets).
    mutating func narrow(_ value: inout UInt64, octets: Int, _ name: StaticString) throws(PacketError)

    /// Visits a field that has a Swift type of its own.
    mutating func field<F: WireField>(_ value: inout F, _ name: StaticString) throws(PacketError)

    /// Visits an octet that decides which fields follow.
    ///
    /// A generator chooses a value for which `isKnown` returns true.
    mutating func code(_ value: inout UInt8, isKnown: (UInt8) -> Bool, _ name: StaticString) throws(PacketError)

    /// Visits the 48 bits of an address whose kind is already known.
    mutating func address(_ value: inout DeviceAddress, _ name: StaticString) throws(PacketError)

    /// Visits exactly `count` octets.
    mutating func bytes(_ value: inout [UInt8], count: Int, _ name: StaticString) throws(PacketError)

    /// Visits octets that are preceded by a 4-octet count.
    mutating func sized(_ value: inout [UInt8], _ name: StaticString) throws(PacketError)

    /// Visits every octet up to the end of the packet.
    mutating func rest(_ value: inout [UInt8], _ name: StaticString) throws(PacketError)

    /// Returns the length, in octets, of the next field, for which the specification allows several lengths, such as 2
    /// or 16 for a UUID.
    ///
    /// A decoder returns the number of remaining octets, and rejects a number that is not in `choices`. A generator
    /// picks one of the choices. Other visitors return `current`, the length that the field has now.
    mutating func size(_ current: Int, among choices: [Int], _ name: StaticString) throws(PacketError) -> Int

    /// Returns the length of a field that takes all remaining octets except the last `trailing` ones, at most `limit`
    /// octets.
    ///
    /// A decoder counts the remaining octets, and rejects a packet in which fewer than `trailing` are left. A generator
    /// uses the full `limit`, or a random length if `limit` is `nil`. Other visitors return `current`, the length that
    /// the field has now.
    mutating func extent(
        _ current: Int,
        before trailing: Int,
        limit: Int?,
        _ name: StaticString
    ) throws(PacketError) -> Int

    /// Visits handles, each followed by a value of `length` octets, up to the end of the packet.
    ///
    /// `octets` contains the whole list in its encoded form, so the list need not be split.
    mutating func valueList(
        _ octets: inout [UInt8],
        length: Int,
        _ handleName: StaticString,
        _ valueName: StaticString
    ) throws(PacketError)

    /// Makes a dissector show `text` as the value of the last field.
    ///
    /// Other visitors do not evaluate `text`.
    mutating func annotate(_ text: @autoclosure () -> String)

    /// Returns whether a list that extends to the end of the packet has an element at `index`.
    ///
    /// A decoder returns true while octets remain, and a generator decides at random. Other visitors compare `index`
    /// with `count`, the number of elements that the list has now.
    mutating func hasElement(at index: Int, of count: Int) -> Bool
}

/// The constraint for a generic parameter that accepts every type that conforms to ``Wire``.
///
/// Such a type need not be escapable, because a decoder borrows the bytes that it reads.
package typealias AnyWire = Wire & ~Copyable & ~Escapable

/// A protocol data unit (PDU), or a part of a PDU that has fields of its own: a header, or an element of a list.
package protocol Packet: Equatable, Sendable {
    /// Creates a packet whose fields are zero, empty or a default, for a decoder to fill in.
    init()

    /// Visits every field once, in wire order.
    mutating func layout(_ wire: inout some AnyWire) throws(PacketError)
}

/// A type for the value of one fixed-width field, such as a handle, an error code or a set of flags.
package protocol WireField: Equatable, Sendable {
    associatedtype Raw: WireInteger
    /// Creates a value from its number on the wire; returns `nil` if the specification reserves that number.
    init?(wire: Raw)
    var wire: Raw { get }
}

extension Wire where Self: ~Copyable & ~Escapable {
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func field<F: WireField>(_ value: inout F, _ name: StaticString) throws(PacketError) {
        var raw = value.wire
        try integer(&raw, name)
        guard let decoded = F(wire: raw) else { throw .reserved(field: name) }
        value = decoded
    }

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func code(
        _ value: inout UInt8,
        isKnown: (UInt8) -> Bool,
        _ name: StaticString
    ) throws(PacketError) { try integer(&value, name) }

    @_lifetime(self: copy self)
    package mutating func valueList(
        _ octets: inout [UInt8],
        length: Int,
        _ handleName: StaticString,
        _ valueName: StaticString
    ) throws(PacketError) {
        let size = 2 + length
        var start = 0
        while hasElement(at: start / size, of: octets.count / size) {
            if start == octets.count { octets += [UInt8](repeating: 0, count: size) }
            var handle = AttributeHandle(wire: UInt16(octets[start]) | UInt16(octets[start + 1]) << 8)
            var value = [UInt8](octets[(start + 2)..<(start + size)])
            try field(&handle, handleName)
            try bytes(&value, count: length, valueName)
            octets.replaceSubrange(start..<(start + size), with: handle.wire.littleEndianOctets + value)
            start += size
        }
    }

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func size(
        _ current: Int,
        among choices: [Int],
        _ name: StaticString
    ) throws(PacketError) -> Int { current }

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func extent(
        _ current: Int,
        before trailing: Int,
        limit: Int?,
        _ name: StaticString
    ) throws(PacketError) -> Int { current }

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func hasElement(at index: Int, of count: Int) -> Bool { index < count }

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func annotate(_ text: @autoclosure () -> String) {}

    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func sized(_ value: inout [UInt8], _ name: StaticString) throws(PacketError) {
        var count = UInt32(clamping: value.count)
        try integer(&count, name)
        try bytes(&value, count: Int(count), name)
    }

    /// Visits octets that are preceded by a 1-octet count.
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func counted(_ value: inout [UInt8], _ name: StaticString) throws(PacketError) {
        var count = UInt8(truncatingIfNeeded: value.count)
        try integer(&count, name)
        try bytes(&value, count: Int(count), name)
    }

    /// Visits elements up to the end of the packet.
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func list<Element: Packet>(_ elements: inout [Element]) throws(PacketError) {
        var index = 0
        while hasElement(at: index, of: elements.count) {
            if index == elements.count { elements.append(Element()) }
            try elements[index].layout(&self)
            index += 1
        }
    }

    /// Visits fields of one type up to the end of the packet.
    ///
    /// `blank` is the value that a new field has before a decoder sets it.
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func fields<F: WireField>(
        _ values: inout [F],
        blank: F,
        _ name: StaticString
    ) throws(PacketError) {
        var index = 0
        while hasElement(at: index, of: values.count) {
            if index == values.count { values.append(blank) }
            try field(&values[index], name)
            index += 1
        }
    }

    /// Visits elements that are preceded by a 1-octet count.
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func countedList<Element: Packet>(
        _ elements: inout [Element],
        _ name: StaticString
    ) throws(PacketError) {
        var count = UInt8(truncatingIfNeeded: elements.count)
        try integer(&count, name)
        for index in 0..<Int(count) {
            if index == elements.count { elements.append(Element()) }
            try elements[index].layout(&self)
        }
    }

    /// Visits a packet that is a part of another packet.
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func nested(_ packet: inout some Packet) throws(PacketError) { try packet.layout(&self) }
}

/// An integer type of 8 to 128 bits that a field can have.
///
/// The compiler cannot specialize all generic code that uses this protocol, because some of that code is in other
/// modules. The requirements are chosen so that code that is not specialized makes only two calls per field.
package protocol WireInteger: FixedWidthInteger, UnsignedInteger, Sendable {
    /// The number of octets in the integer.
    static var octets: Int { get }
    /// The lower 64 bits and the upper 64 bits.
    var halves: (low: UInt64, high: UInt64) { get }
    init(low: UInt64, high: UInt64)
}

extension WireInteger {
    @inline(__always)
    package static var octets: Int { bitWidth / 8 }

    @inline(__always)
    package var halves: (low: UInt64, high: UInt64) { (UInt64(truncatingIfNeeded: self), 0) }

    @inline(__always)
    package init(low: UInt64, high: UInt64) { self.init(truncatingIfNeeded: low) }
}

extension UInt8: WireInteger {}
extension UInt16: WireInteger {}
extension UInt32: WireInteger {}
extension UInt64: WireInteger {}

extension UInt128: WireInteger {
    package var halves: (low: UInt64, high: UInt64) {
        (UInt64(truncatingIfNeeded: self), UInt64(truncatingIfNeeded: self &>> 64))
    }

    package init(low: UInt64, high: UInt64) { self = UInt128(high) &<< 64 | UInt128(low) }
}
