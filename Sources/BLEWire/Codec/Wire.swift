/// Something that walks the fields of a packet in wire order: a decoder fills them in, an encoder copies them
/// out, a dissector describes them, a generator makes them up.
///
/// A packet names its fields once, in ``Packet/layout(_:)``; everything else is a `Wire`.
package protocol Wire: ~Copyable, ~Escapable {
    /// Visits an integer, least significant octet first.
    mutating func integer<T: WireInteger>(
        _ value: inout T,
        _ name: StaticString
    ) throws(PacketError)

    /// Visits an integer of `octets` octets, 1 to 8, least significant first: what has no type of its width, such
    /// as a device address (6) or an extended advertising interval (3).
    mutating func narrow(_ value: inout UInt64, octets: Int, _ name: StaticString) throws(PacketError)

    /// Visits a field whose values are a type of their own.
    mutating func field<F: WireField>(_ value: inout F, _ name: StaticString) throws(PacketError)

    /// Visits an octet that tells apart what follows; who makes it up makes up one that is known.
    mutating func code(_ value: inout UInt8, isKnown: (UInt8) -> Bool, _ name: StaticString) throws(PacketError)

    /// Visits the 48 bits of an address whose kind is known.
    mutating func address(_ value: inout DeviceAddress, _ name: StaticString) throws(PacketError)

    /// Visits exactly `count` octets.
    mutating func bytes(_ value: inout [UInt8], count: Int, _ name: StaticString) throws(PacketError)

    /// Visits octets that a count of four octets precedes.
    mutating func sized(_ value: inout [UInt8], _ name: StaticString) throws(PacketError)

    /// Visits every octet up to the end of the packet.
    mutating func rest(_ value: inout [UInt8], _ name: StaticString) throws(PacketError)

    /// How many octets the last field takes, where the specification leaves a choice (a UUID of 2 or 16 octets).
    ///
    /// A decoder says what is left and refuses what is not among `choices`; the others keep `current`, but for a
    /// generator, which picks one.
    mutating func size(_ current: Int, among choices: [Int], _ name: StaticString) throws(PacketError) -> Int

    /// How many octets a field takes that other fields leave open: all that are left but for `trailing` ones, and no
    /// more than `limit`.
    ///
    /// A decoder counts and refuses less than `trailing`; a generator makes the field as long as `limit` lets it; the
    /// others keep `current`.
    mutating func extent(
        _ current: Int,
        before trailing: Int,
        limit: Int?,
        _ name: StaticString
    ) throws(PacketError) -> Int

    /// Visits handles, each with a value of `length` octets behind it, that go on to the end of the packet.
    ///
    /// All of them are in `octets`, as they are sent; who need not look at each takes them as they lie.
    mutating func valueList(
        _ octets: inout [UInt8],
        length: Int,
        _ handleName: StaticString,
        _ valueName: StaticString
    ) throws(PacketError)

    /// Says what the field that was visited last means, to those who describe packets; nobody else asks for `text`.
    mutating func annotate(_ text: @autoclosure () -> String)

    /// Whether a list that goes on to the end of the packet has an element at `index`, when it holds `count` now.
    mutating func hasElement(at index: Int, of count: Int) -> Bool
}

/// A wire in generic position.
///
/// Decoders borrow the bytes they read, so a wire may not escape.
package typealias AnyWire = Wire & ~Copyable & ~Escapable

/// A protocol data unit, the header of one, or an element of a list in one.
package protocol Packet: Equatable, Sendable {
    /// Creates a packet with every field zero or empty, ready for a decoder to fill.
    init()

    /// Visits every field once, in the order in which they are sent.
    mutating func layout(_ wire: inout some AnyWire) throws(PacketError)
}

/// A value of one fixed-width field: a handle, an error code, a set of flags.
package protocol WireField: Equatable, Sendable {
    associatedtype Raw: WireInteger
    /// `nil` if the specification reserves `wire`.
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

    /// Visits octets that a count of one octet precedes.
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func counted(_ value: inout [UInt8], _ name: StaticString) throws(PacketError) {
        var count = UInt8(truncatingIfNeeded: value.count)
        try integer(&count, name)
        try bytes(&value, count: Int(count), name)
    }

    /// Visits elements that go on to the end of the packet.
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

    /// Visits fields of one type that go on to the end of the packet; `blank` is what a new one starts as.
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

    /// Visits elements that a count of one octet precedes.
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

    /// Visits a packet that is part of another.
    @_lifetime(self: copy self)
    @inline(__always)
    package mutating func nested(_ packet: inout some Packet) throws(PacketError) { try packet.layout(&self) }
}
