/// A field as it was sent, with a value that may be out of range.
///
/// Controllers send arbitrary values, mostly zeros, in events about a failure. Besides, if an event were rejected
/// because of an invalid interval, the host would not know about the connection.
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
