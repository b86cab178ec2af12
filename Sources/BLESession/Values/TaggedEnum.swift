package import BLEWire

/// An enum of messages, or of parts of messages, in which a code octet selects the case.
///
/// Each case states its code and its fields once, and the compiler finds cases that are missing.
package protocol TaggedEnum: Equatable, Sendable {
    /// The code of this case. No version of the protocol uses it for another case.
    var code: UInt8 { get }

    /// Creates the case for `code`, with all fields zero or empty; returns `nil` if the code is unknown.
    init?(blank code: UInt8)

    /// Replaces this value with the case for `code`, with all fields zero or empty.
    ///
    /// Types must not implement this requirement: it exists so that the compiler generates a specialized copy for each
    /// type.
    ///
    /// - Throws: A packet error if the code is unknown.
    mutating func become(_ code: UInt8) throws(PacketError)

    /// Visits the fields of this case in wire order.
    mutating func fields(_ wire: inout some AnyWire) throws(PacketError)
}

extension TaggedEnum {
    package mutating func become(_ code: UInt8) throws(PacketError) {
        guard let blank = Self(blank: code) else { throw .reserved(field: "Code") }
        self = blank
    }

    /// Visits the code and the fields of this case.
    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        let own = code
        var code = own
        try wire.code(&code, isKnown: { Self(blank: $0) != nil }, "Code")
        if code != own { try become(code) }
        try fields(&wire)
    }
}
