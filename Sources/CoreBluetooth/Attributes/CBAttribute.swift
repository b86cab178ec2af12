public import Foundation

/// What services, characteristics and descriptors have in common.
///
/// Threads may share an attribute: a lock protects what changes, so that each property can be used on any thread.
open class CBAttribute: NSObject, @unchecked Sendable {
    private let type: CBUUID

    init(type: CBUUID) { self.type = type }

    /// Attributes come from a peripheral, or are made as one of the mutable types.
    @available(*, unavailable)
    public override init() { preconditionFailure("attributes come from a peripheral") }

    /// What the attribute is.
    open var uuid: CBUUID { type }
}
