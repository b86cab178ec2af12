package import BLEWire

/// One of several messages, or parts of them, that an octet tells apart.
///
/// A case names its code and its fields once each, and the compiler finds the case that has none.
package protocol Choice: Equatable, Sendable {
    /// The octet that stands for this case; no other case has it, in any version.
    var code: UInt8 { get }

    /// The case that `code` stands for, with every field zero or empty; `nil` if this version knows none.
    init?(blank code: UInt8)

    /// Visits the fields of this case in the order in which they are sent.
    mutating func fields(_ wire: inout some AnyWire) throws(PacketError)
}

/// The code of a choice, as a field.
private struct Code<Subject: Choice>: WireField {
    let wire: UInt8
    init(of subject: Subject) { wire = subject.code }
    init?(wire: UInt8) {
        guard Subject(blank: wire) != nil else { return nil }
        self.wire = wire
    }
    func blank(or current: Subject) -> Subject { Subject(blank: wire) ?? current }
}

extension Choice {
    /// Visits the code of the case, then its fields.
    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var code = Code(of: self)
        try wire.field(&code, "Code")
        if code.wire != self.code { self = code.blank(or: self) }
        try fields(&wire)
    }
}
