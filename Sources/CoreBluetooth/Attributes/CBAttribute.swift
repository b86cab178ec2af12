public import Foundation

/// What services, characteristics and descriptors have in common.
open class CBAttribute: NSObject {
    private let type: CBUUID

    init(type: CBUUID) { self.type = type }

    /// Attributes come from a peripheral, or are made as one of the mutable types.
    @available(*, unavailable)
    public override init() { preconditionFailure("attributes come from a peripheral") }

    /// What the attribute is.
    open var uuid: CBUUID { type }
}
