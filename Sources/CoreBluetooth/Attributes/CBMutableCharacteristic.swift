import BLEHost
public import Foundation

/// A value of a service of this machine.
///
/// If it has a value when it is published, that value is fixed, the host answers reads by itself, and nobody can write
/// it. Otherwise every read and write goes to the delegate of the manager.
open class CBMutableCharacteristic: CBCharacteristic, @unchecked Sendable {
    private let publication = Protected<Publication?>(nil)
    private let local: Protected<Local>

    private struct Local {
        var permissions: CBAttributePermissions
        var subscribers: [CBCentral] = []
    }

    /// Creates a characteristic; see the type for what `value` decides.
    public init(
        type UUID: CBUUID,
        properties: CBCharacteristicProperties,
        value: Data?,
        permissions: CBAttributePermissions
    ) {
        local = Protected(Local(permissions: permissions))
        super.init(local: UUID, properties: properties, value: value)
    }

    /// Who may read and write.
    open var permissions: CBAttributePermissions {
        get { local.withLock { $0.permissions } }
        set { if mayChange(publication) { local.withLock { $0.permissions = newValue } } }
    }

    /// The centrals to which the characteristic sends its value, in the order in which they asked for it.
    open var subscribedCentrals: [CBCentral]? { local.withLock { $0.subscribers } }

    /// What the characteristic can do.
    open override var properties: CBCharacteristicProperties {
        get { super.properties }
        set { if mayChange(publication) { setProperties(newValue) } }
    }

    /// The fixed value, if there is one when the characteristic is published; afterwards a place for the app's own
    /// use, which nobody else reads.
    open override var value: Data? {
        get { super.value }
        set { setValue(newValue) }
    }

    /// What describes the characteristic: objects of type ``CBMutableDescriptor``.
    open override var descriptors: [CBDescriptor]? {
        get { super.descriptors }
        set {
            guard mayChange(publication) else { return }
            super.descriptors?.forEach { $0.setCharacteristic(nil) }
            setDescriptors(newValue)
            newValue?.forEach { $0.setCharacteristic(self) }
        }
    }

    /// The name under which the host knows the characteristic; `nil` unless it is published.
    var published: Publication? {
        get { publication.current }
        set { publication.withLock { $0 = newValue } }
    }

    /// Adds `central` to those that are subscribed, unless it is one of them.
    func subscribe(_ central: CBCentral) {
        local.withLock {
            if !$0.subscribers.contains(where: { $0 === central }) { $0.subscribers.append(central) }
        }
    }

    func unsubscribe(_ central: CBCentral) { local.withLock { $0.subscribers.removeAll { $0 === central } } }
    func unsubscribeAll() { local.withLock { $0.subscribers = [] } }
}
