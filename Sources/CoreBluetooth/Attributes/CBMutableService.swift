import BLEHost
import Foundation

/// A service of this machine.
///
/// What it holds can be changed until it is published, and again once it has been removed.
open class CBMutableService: CBService, @unchecked Sendable {
    private let publication = Protected<Publication?>(nil)

    /// Creates a service without characteristics.
    public init(type UUID: CBUUID, primary isPrimary: Bool) { super.init(local: UUID, primary: isPrimary) }

    /// The services that belong to this one; they must be published before it.
    open override var includedServices: [CBService]? {
        get { super.includedServices }
        set { if mayChange(publication) { setIncludedServices(newValue) } }
    }

    /// The values of the service: objects of type ``CBMutableCharacteristic``.
    open override var characteristics: [CBCharacteristic]? {
        get { super.characteristics }
        set {
            guard mayChange(publication) else { return }
            super.characteristics?.forEach { $0.setService(nil) }
            setCharacteristics(newValue)
            newValue?.forEach { $0.setService(self) }
        }
    }

    /// The name under which the host knows the service; `nil` unless it is published.
    var published: Publication? {
        get { publication.current }
        set { publication.withLock { $0 = newValue } }
    }
}

/// That an attribute is published, and by whom.
struct Publication {
    /// The name under which the host knows the attribute.
    let id: LocalAttributeID
    /// The manager that published it.
    let publisher: ManagerReference
}

extension CBAttribute {
    /// Whether an attribute with this publication may change; says so if it may not.
    func mayChange(_ publication: borrowing Protected<Publication?>) -> Bool {
        guard let publication = publication.current else { return true }
        publication.publisher.console.misuse("\(self) can not be changed while it is published")
        return false
    }
}
