/// A field that keeps its number on the wire even if the specification reserves that number.
///
/// Controllers send arbitrary values, mostly zeros, in events that report a failure. Even after a success, an invalid
/// value must not make the whole event invalid: if the event about a new connection were rejected because of its
/// interval, the host would not know about the connection.
package struct Reported<Value: WireField>: WireField {
    package let wire: Value.Raw
    package init(wire: Value.Raw) { self.wire = wire }
    package init(_ value: Value) { wire = value.wire }

    /// The value; `nil` if the specification reserves it.
    package var value: Value? { Value(wire: wire) }
}

extension Reported: CustomStringConvertible {
    package var description: String {
        guard let value = Value(wire: wire) else { return "out of range (0x\(String(wire, radix: 16)))" }
        return (value as? any CustomStringConvertible)?.description ?? "0x\(String(wire, radix: 16))"
    }
}
