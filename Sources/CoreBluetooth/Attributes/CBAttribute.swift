public import Foundation

/// The common superclass of services, characteristics and descriptors.
///
/// An attribute can be used on any thread, because a lock protects its state.
open class CBAttribute: NSObject, @unchecked Sendable {
    private let type: CBUUID

    init(type: CBUUID) { self.type = type }

    /// Unavailable: apps discover attributes on a peripheral, or create them as one of the mutable types.
    @available(*, unavailable)
    public override init() { preconditionFailure("apps discover attributes, or create mutable ones") }

    /// The UUID that identifies the type of the attribute.
    open var uuid: CBUUID { type }
}
