/// A visitor of the fields of a packet in wire order.
///
/// A decoder sets them, an encoder copies them, a dissector describes them, a generator invents them.
///
/// A packet lists its fields once, in ``Packet/layout(_:)``; everything else is a `Wire`.
package protocol Wire: ~Copyable, ~Escapable {
    /// Visits an integer, least significant octet first.
    mutating func integer<T: WireInteger>(
        _ value: inout T,
        _ name: StaticString
    ) throws(PacketError)

    /// Visits an integer of 1 to 8 octets, least significant first, for widths without a type of their own, such as a
    /// device address (6) or an extended advertising interval (3).
    mutating func narrow(_ value: inout UInt64, octets: Int, _ name: StaticString) throws(PacketError)

    /// Visits a field with a value type of its own.
    mutating func field<F: WireField>(_ value: inout F, _ name: StaticString) throws(PacketError)

    /// Visits an octet that selects what follows. A generator chooses a known value.
    mutating func code(_ value: inout UInt8, isKnown: (UInt8) -> Bool, _ name: StaticString) throws(PacketError)

    /// Visits the 48 bits of an address whose kind was visited before.
    mutating func address(_ value: inout DeviceAddress, _ name: StaticString) throws(PacketError)

    /// Visits exactly `count` octets.
    mutating func bytes(_ value: inout [UInt8], count: Int, _ name: StaticString) throws(PacketError)

    /// Visits octets that are preceded by a 4-octet count.
    mutating func sized(_ value: inout [UInt8], _ name: StaticString) throws(PacketError)

    /// Visits every octet up to the end of the packet.
    mutating func rest(_ value: inout [UInt8], _ name: StaticString) throws(PacketError)

    /// The length of the next field in octets, where the specification allows a choice (a UUID of 2 or 16 octets).
    ///
    /// A decoder returns the remaining length and rejects one that is not in `choices`. A generator picks one of the
    /// choices. Other visitors return `current`.
    mutating func size(_ current: Int, among choices: [Int], _ name: StaticString) throws(PacketError) -> Int

    /// The length of a field that other fields do not determine: all remaining octets except the last `trailing` ones,
    /// at most `limit`.
    ///
    /// A decoder counts, and rejects fewer than `trailing` octets. A generator uses the full `limit`. Other visitors
    /// return `current`.
    mutating func extent(
        _ current: Int,
        before trailing: Int,
        limit: Int?,
        _ name: StaticString
    ) throws(PacketError) -> Int

    /// Visits handles, each followed by a value of `length` octets, up to the end of the packet.
    ///
    /// All of them are stored in `octets` as they are sent, so that they need not be split.
    mutating func valueList(
        _ octets: inout [UInt8],
        length: Int,
        _ handleName: StaticString,
        _ valueName: StaticString
    ) throws(PacketError)

    /// Describes the meaning of the last field to visitors that describe packets. Others do not evaluate `text`.
    mutating func annotate(_ text: @autoclosure () -> String)

    /// Returns whether a list that ends with the packet has an element at `index`, when it currently holds `count`.
    mutating func hasElement(at index: Int, of count: Int) -> Bool
}

/// A wire in generic position.
///
/// Decoders borrow the bytes they read, so a wire may not escape.
package typealias AnyWire = Wire & ~Copyable & ~Escapable

/// A protocol data unit, the header of one, or an element of a list inside one.
package protocol Packet: Equatable, Sendable {
    /// Creates a packet with every field zero or empty, ready for a decoder to fill.
    init()

    /// Visits every field once, in wire order.
    mutating func layout(_ wire: inout some AnyWire) throws(PacketError)
}

/// A value of one fixed-width field, such as a handle, an error code or a set of flags.
package protocol WireField: Equatable, Sendable {
    associatedtype Raw: WireInteger
    /// Returns `nil` if the specification reserves `wire`.
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

    /// Visits fields of one type up to the end of the packet; `blank` is the initial value of a new one.
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

    /// Visits a packet that is a part of another one.
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func nested(_ packet: inout some Packet) throws(PacketError) { try packet.layout(&self) }
}
