import BLEHost
public import Foundation

/// A local characteristic.
///
/// If the characteristic has a value when it is published, that value is fixed: the host answers reads itself and
/// rejects writes. Otherwise, the manager's delegate receives every read and write.
open class CBMutableCharacteristic: CBCharacteristic, @unchecked Sendable {
    private let publication = Protected<Publication?>(nil)
    private let local: Protected<Local>

    private struct Local {
        var permissions: CBAttributePermissions
        var subscribers: [CBCentral] = []
    }

    /// Creates a characteristic.
    ///
    /// If `value` is not `nil`, it is the fixed value of the characteristic.
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

    /// The fixed value of the characteristic, if it is set before the characteristic is published.
    ///
    /// A value that is set later is only for the app itself: the host neither sends it nor answers reads with it.
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

    /// The host's identifier of the characteristic, and the manager that published it; `nil` while it is not published.
    var published: Publication? {
        get { publication.current }
        set { publication.withLock { $0 = newValue } }
    }

    /// Adds `central` to the subscribed centrals if it is not one of them yet.
    func subscribe(_ central: CBCentral) {
        local.withLock {
            if !$0.subscribers.contains(where: { $0 === central }) { $0.subscribers.append(central) }
        }
    }

    func unsubscribe(_ central: CBCentral) { local.withLock { $0.subscribers.removeAll { $0 === central } } }
    func unsubscribeAll() { local.withLock { $0.subscribers = [] } }
}
