import BLEHost
import BLEWire
public import Foundation

/// A characteristic of a service.
open class CBCharacteristic: CBAttribute, @unchecked Sendable {
    /// The handles on the peripheral; `nil` for a local characteristic.
    let handles: Handles?
    private let content: Protected<Content>

    /// The handles of the value and the descriptors of a characteristic.
    struct Handles: Hashable {
        let value: AttributeHandle
        /// The handle range of the descriptors; `nil` if no handle of the characteristic follows the value.
        let descriptors: AttributeHandleRange?

        init(_ found: DiscoveredCharacteristic) {
            value = found.value
            descriptors = AttributeHandleRange(found.value, found.end).flatMap { $0.after(found.value) }
        }

        /// The handle range of the value and its descriptors.
        var range: AttributeHandleRange? { AttributeHandleRange(value, descriptors?.end ?? value) }
    }

    /// The properties that can change, protected by a lock.
    private struct Content {
        weak var service: CBService?
        var properties: CBCharacteristicProperties
        var value: Data?
        var descriptors: [CBDescriptor]?
        var subscription = Subscription.none
    }

    /// Creates a characteristic that was discovered on a peripheral.
    init(_ found: DiscoveredCharacteristic, of service: CBService) {
        handles = Handles(found)
        let properties = CBCharacteristicProperties(rawValue: UInt(found.properties))
        content = Protected(Content(service: service, properties: properties))
        super.init(type: CBUUID(found.uuid))
    }

    /// Creates a local characteristic.
    init(local type: CBUUID, properties: CBCharacteristicProperties, value: Data?) {
        handles = nil
        content = Protected(Content(properties: properties, value: value))
        super.init(type: type)
    }

    /// The service that the characteristic belongs to.
    open weak var service: CBService? { content.withLock { $0.service } }

    /// The properties of the characteristic.
    open var properties: CBCharacteristicProperties { content.withLock { $0.properties } }

    /// The value that was last read, or received in a notification or indication; `nil` until then.
    ///
    /// For a local characteristic, the value that the app has set.
    open var value: Data? { content.withLock { $0.value } }

    /// The descriptors; `nil` until they have been discovered.
    open var descriptors: [CBDescriptor]? { content.withLock { $0.descriptors } }

    /// True if the value is broadcast in advertisements; always `false`, as on Apple's systems.
    @available(*, deprecated)
    open var isBroadcasted: Bool { false }

    /// True if the app is subscribed to notifications or indications.
    open var isNotifying: Bool { content.withLock { $0.subscription != .none } }

    /// The memory address of the object, its UUID, properties, value and subscription, for logs.
    open override var description: String {
        let now = content.current
        let value = now.value.map { "<" + $0.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined() + ">" }
        return "<\(Swift.type(of: self)): \(address), UUID = \(uuid), properties = 0x"
            + String(now.properties.rawValue, radix: 16, uppercase: true)
            + ", value = \(value ?? "(null)"), notifying = \(now.subscription != .none ? "YES" : "NO")>"
    }

    /// The app's current subscription to the value: notifications, indications or none.
    var subscription: Subscription {
        get { content.withLock { $0.subscription } }
        set { content.withLock { $0.subscription = newValue } }
    }

    func setService(_ service: CBService?) { content.withLock { $0.service = service } }
    func setProperties(_ properties: CBCharacteristicProperties) { content.withLock { $0.properties = properties } }
    func setValue(_ value: Data?) { content.withLock { $0.value = value } }

    /// Sets the value.
    ///
    /// Reuses the storage of the previous value if that has the same length and is not shared.
    func setValue(octets: [UInt8]) {
        content.withLock { content in
            guard content.value?.count == octets.count else { return content.value = Data(octets: octets) }
            octets.withUnsafeBytes { new in
                content.value?.withUnsafeMutableBytes { $0.copyMemory(from: new) }
            }
        }
    }

    func setDescriptors(_ descriptors: [CBDescriptor]?) { content.withLock { $0.descriptors = descriptors } }
}
