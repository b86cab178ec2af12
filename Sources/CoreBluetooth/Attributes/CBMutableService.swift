import BLEHost
import Foundation

/// A local service.
///
/// It can be changed while it is not published: before it is added to a manager, and after it has been removed.
open class CBMutableService: CBService, @unchecked Sendable {
    private let publication = Protected<Publication?>(nil)

    /// Creates a service without characteristics.
    public init(type UUID: CBUUID, primary isPrimary: Bool) { super.init(local: UUID, primary: isPrimary) }

    /// The included services, which must be published before this one.
    open override var includedServices: [CBService]? {
        get { super.includedServices }
        set { if mayChange(publication) { setIncludedServices(newValue) } }
    }

    /// The characteristics, which must be of type ``CBMutableCharacteristic``.
    open override var characteristics: [CBCharacteristic]? {
        get { super.characteristics }
        set {
            guard mayChange(publication) else { return }
            super.characteristics?.forEach { $0.setService(nil) }
            setCharacteristics(newValue)
            newValue?.forEach { $0.setService(self) }
        }
    }

    /// The host's identifier of the service, and the manager that published it; `nil` while it is not published.
    var published: Publication? {
        get { publication.current }
        set { publication.withLock { $0 = newValue } }
    }
}

/// The host's identifier of a published attribute, and the manager that published it.
struct Publication {
    /// The host's identifier of the attribute.
    let id: LocalAttributeID
    /// The manager that published the attribute.
    let publisher: ManagerReference
}

extension CBAttribute {
    /// Returns true if the attribute is not published; otherwise logs a misuse and returns false.
    ///
    /// `publication` holds the publication of the attribute.
    func mayChange(_ publication: borrowing Protected<Publication?>) -> Bool {
        guard let publication = publication.current else { return true }
        publication.publisher.console.misuse("\(self) cannot be changed while it is published")
        return false
    }
}
