import BLEHost
public import Foundation

/// A local characteristic.
///
/// If it has a value when it is published, the value is fixed: the host answers reads, and writes are rejected.
/// Otherwise the manager's delegate gets every read and write.
open class CBMutableCharacteristic: CBCharacteristic, @unchecked Sendable {
    private let publication = Protected<Publication?>(nil)
    private let local: Protected<Local>

    private struct Local {
        var permissions: CBAttributePermissions
        var subscribers: [CBCentral] = []
    }

    /// Creates a characteristic.
    ///
    /// See the type for the meaning of `value`.
    public init(
        type UUID: CBUUID,
        properties: CBCharacteristicProperties,
        value: Data?,
        permissions: CBAttributePermissions
    ) {
        local = Protected(Local(permissions: permissions))
        super.init(local: UUID, properties: properties, value: value)
    }

    /// The read and write permissions.
    open var permissions: CBAttributePermissions {
        get { local.withLock { $0.permissions } }
        set { if mayChange(publication) { local.withLock { $0.permissions = newValue } } }
    }

    /// The subscribed centrals, in the order of their subscriptions.
    open var subscribedCentrals: [CBCentral]? { local.withLock { $0.subscribers } }

    /// The properties of the characteristic.
    open override var properties: CBCharacteristicProperties {
        get { super.properties }
        set { if mayChange(publication) { setProperties(newValue) } }
    }

    /// The fixed value, if it is set when the characteristic is published.
    ///
    /// Later values are for the app's own use and are not sent.
    open override var value: Data? {
        get { super.value }
        set { setValue(newValue) }
    }

    /// The descriptors, which must be of type ``CBMutableDescriptor``.
    open override var descriptors: [CBDescriptor]? {
        get { super.descriptors }
        set {
            guard mayChange(publication) else { return }
            super.descriptors?.forEach { $0.setCharacteristic(nil) }
            setDescriptors(newValue)
            newValue?.forEach { $0.setCharacteristic(self) }
        }
    }

    /// The host's identifier of the characteristic; `nil` while it is not published.
    var published: Publication? {
        get { publication.current }
        set { publication.withLock { $0 = newValue } }
    }

    /// Adds `central` to the subscribed centrals, if it is not among them.
    func subscribe(_ central: CBCentral) {
        local.withLock {
            if !$0.subscribers.contains(where: { $0 === central }) { $0.subscribers.append(central) }
        }
    }

    func unsubscribe(_ central: CBCentral) { local.withLock { $0.subscribers.removeAll { $0 === central } } }
    func unsubscribeAll() { local.withLock { $0.subscribers = [] } }
}
