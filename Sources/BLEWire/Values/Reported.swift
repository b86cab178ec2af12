/// A field of an event as the controller filled it, whether or not its value is in range.
///
/// A controller fills the fields of an event about a failure with anything, mostly zeros; and a host does better to
/// live with an odd interval than not to learn of its connection.
package struct Reported<Value: WireField>: WireField {
    package let wire: Value.Raw
    package init(wire: Value.Raw) { self.wire = wire }
    package init(_ value: Value) { wire = value.wire }

    /// The value, or `nil` if the specification reserves it.
    package var value: Value? { Value(wire: wire) }
}

extension Reported: CustomStringConvertible {
    package var description: String {
        guard let value = Value(wire: wire) else { return "out of range (0x\(String(wire, radix: 16)))" }
        return (value as? any CustomStringConvertible)?.description ?? "0x\(String(wire, radix: 16))"
    }
}
