/// The identifier of a packet that a layer passes down.
///
/// The host uses it to tell the layer that the packet has been sent.
package struct SendReceipt: Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
