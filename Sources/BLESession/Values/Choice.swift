package import BLEWire

/// An enum of messages or parts of them, selected by a code octet.
///
/// Each case states its code and fields once, and the compiler finds missing cases.
package protocol Choice: Equatable, Sendable {
    /// The code of this case, which no other case has in any version.
    var code: UInt8 { get }

    /// Creates the case for `code` with all fields zero or empty; returns `nil` if it is unknown.
    init?(blank code: UInt8)

    /// Changes to the case for `code` with all fields zero or empty.
    ///
    /// Not to be implemented: the compiler generates a specialized copy for each type.
    mutating func become(_ code: UInt8) throws(PacketError)

    /// Visits the fields of this case in wire order.
    mutating func fields(_ wire: inout some AnyWire) throws(PacketError)
}

extension Choice {
    package mutating func become(_ code: UInt8) throws(PacketError) {
        guard let blank = Self(blank: code) else { throw .reserved(field: "Code") }
        self = blank
    }

    /// Visits the code and the fields of the case.
    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        let own = code
        var code = own
        try wire.code(&code, isKnown: { Self(blank: $0) != nil }, "Code")
        if code != own { try become(code) }
        try fields(&wire)
    }
}
