public import Foundation

/// The common superclass of services, characteristics and descriptors.
///
/// Threads may share an attribute: a lock protects what changes, so that each property can be used on any thread.
open class CBAttribute: NSObject, @unchecked Sendable {
    private let type: CBUUID

    init(type: CBUUID) { self.type = type }

    /// Unavailable: attributes come from a peripheral or are created as one of the mutable types.
    @available(*, unavailable)
    public override init() { preconditionFailure("attributes cannot be created by apps; discover them") }

    /// The type of the attribute.
    open var uuid: CBUUID { type }
}
