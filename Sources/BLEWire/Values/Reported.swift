/// A field of an event as the controller sent it, possibly out of range.
///
/// After a failure, controllers send arbitrary values, mostly zeros. And a host can cope better with an odd interval
/// than with a connection that it does not learn of.
package struct Reported<Value: WireField>: WireField {
    package let wire: Value.Raw
    package init(wire: Value.Raw) { self.wire = wire }
    package init(_ value: Value) { wire = value.wire }

    /// The value; `nil` if it is reserved.
    package var value: Value? { Value(wire: wire) }
}

extension Reported: CustomStringConvertible {
    package var description: String {
        guard let value = Value(wire: wire) else { return "out of range (0x\(String(wire, radix: 16)))" }
        return (value as? any CustomStringConvertible)?.description ?? "0x\(String(wire, radix: 16))"
    }
}
