package import BLEWire

/// One of several messages, or parts of them, that an octet tells apart.
///
/// A case names its code and its fields once each, and the compiler finds the case that has none.
package protocol Choice: Equatable, Sendable {
    /// The octet that stands for this case; no other case has it, in any version.
    var code: UInt8 { get }

    /// The case that `code` stands for, with every field zero or empty; `nil` if this version knows none.
    init?(blank code: UInt8)

    /// Becomes the case that `code` stands for, with every field zero or empty.
    ///
    /// Not for others to implement: each type has its own copy of it, which the compiler makes for that type.
    mutating func become(_ code: UInt8) throws(PacketError)

    /// Visits the fields of this case in the order in which they are sent.
    mutating func fields(_ wire: inout some AnyWire) throws(PacketError)
}

extension Choice {
    package mutating func become(_ code: UInt8) throws(PacketError) {
        guard let blank = Self(blank: code) else { throw .reserved(field: "Code") }
        self = blank
    }

    /// Visits the code of the case, then its fields.
    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        let own = code
        var code = own
        try wire.code(&code, isKnown: { Self(blank: $0) != nil }, "Code")
        if code != own { try become(code) }
        try fields(&wire)
    }
}
