import BLEHost
package import BLEWire

// The kinds of fields that messages have in addition to those of packets.
extension Wire where Self: ~Copyable & ~Escapable {
    /// Visits a UTF-8 text, which is preceded by its length in octets.
    ///
    /// Invalid UTF-8 is repaired.
    @_lifetime(self: copy self)
    package mutating func text(_ value: inout String, _ name: StaticString) throws(PacketError) {
        var octets = Array(value.utf8)
        try sized(&octets, name)
        value = String(decoding: octets, as: UTF8.self)
    }

    /// Visits a flag that is true if there is a value, and then the value, if any.
    @_lifetime(self: copy self)
    mutating func optional<Value: Packet>(_ value: inout Value?, _ name: StaticString) throws(PacketError) {
        var isThere = value != nil
        try flag(&isThere, name)
        guard isThere else { return value = nil }
        var some = value ?? Value()
        try some.layout(&self)
        value = some
    }

    /// Visits a flag that is true if there is a value, and then the value, if any.
    ///
    /// `blank` may be any value; decoding replaces it.
    @_lifetime(self: copy self)
    mutating func optional<Field: WireField>(
        _ value: inout Field?,
        blank: Field,
        _ name: StaticString
    ) throws(PacketError) {
        var isThere = value != nil
        try flag(&isThere, name)
        guard isThere else { return value = nil }
        var some = value ?? blank
        try field(&some, name)
        value = some
    }

    /// Visits a list: each element is preceded by an octet 1, and an octet 0 ends the list.
    @_lifetime(self: copy self)
    mutating func sequence<Element: Packet>(_ elements: inout [Element], _ name: StaticString) throws(PacketError) {
        var index = 0
        while true {
            var isThere = index < elements.count
            try flag(&isThere, name)
            guard isThere else { break }
            if index == elements.count { elements.append(Element()) }
            try elements[index].layout(&self)
            index += 1
        }
        elements.removeLast(elements.count - index)
    }

    /// Visits a duration, as a 64-bit number of nanoseconds.
    @_lifetime(self: copy self)
    mutating func duration(_ value: inout Duration, _ name: StaticString) throws(PacketError) {
        let (seconds, attoseconds) = value.components
        let (scaled, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        var raw = UInt64(bitPattern: overflows ? (seconds < 0 ? .min : .max) : scaled &+ attoseconds / 1_000_000_000)
        let before = raw
        try integer(&raw, name)
        if raw != before { value = .nanoseconds(Int64(bitPattern: raw)) }
    }

    /// Visits a non-negative number, as 32 bits.
    @_lifetime(self: copy self)
    mutating func count(_ value: inout Int, _ name: StaticString) throws(PacketError) {
        var raw = UInt32(clamping: value)
        try integer(&raw, name)
        value = Int(raw)
    }

    /// Visits a result, which is a value or a failure.
    @_lifetime(self: copy self)
    mutating func result<Value: Packet>(
        _ result: inout Result<Value, Failure>,
        _ name: StaticString
    ) throws(PacketError) {
        var failure: Failure? = if case .failure(let failure) = result { failure } else { nil }
        try optional(&failure, "Failure")
        if let failure { return result = .failure(failure) }
        var value = (try? result.get()) ?? Value()
        try value.layout(&self)
        result = .success(value)
    }
}

/// A packet that contains a list of values.
package struct PacketList<Element: Packet>: Packet {
    package var elements: [Element]
    package init(_ elements: [Element]) { self.elements = elements }
    package init() { elements = [] }
    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.sequence(&elements, "Element")
    }
}

/// A packet that contains the octets of a value.
struct Octets: Packet {
    var octets: [UInt8]
    init(_ octets: [UInt8]) { self.octets = octets }
    init() { octets = [] }
    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.sized(&octets, "Value") }
}

/// A packet that contains a text.
struct Text: Packet {
    var text: String
    init(_ text: String) { self.text = text }
    init() { text = "" }
    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.text(&text, "Text") }
}

extension Wire where Self: ~Copyable & ~Escapable {
    /// Visits an optional string.
    @_lifetime(self: copy self)
    mutating func text(_ value: inout String?, _ name: StaticString) throws(PacketError) {
        var text = value.map(Text.init)
        try optional(&text, name)
        value = text?.text
    }

    /// Visits the last part of a message, which a later version of the protocol has added, if the part is present.
    @_lifetime(self: copy self)
    package mutating func tail<Part: Packet>(_ value: inout Part?) throws(PacketError) {
        guard hasElement(at: 0, of: value == nil ? 0 : 1) else { return }
        var part = value ?? Part()
        try part.layout(&self)
        value = part
    }

    /// Visits optional octets.
    @_lifetime(self: copy self)
    mutating func sized(_ value: inout [UInt8]?, _ name: StaticString) throws(PacketError) {
        var octets = value.map(Octets.init)
        try optional(&octets, name)
        value = octets?.octets
    }

    /// Visits a result, which is a list of values or a failure.
    @_lifetime(self: copy self)
    mutating func results<Element: Packet>(
        _ result: inout Result<[Element], Failure>,
        _ name: StaticString
    ) throws(PacketError) {
        var list = result.map(PacketList.init)
        try self.result(&list, name)
        result = list.map(\.elements)
    }
}
