import BLEHost
import BLEWire
public import Foundation

/// A value of a service.
open class CBCharacteristic: CBAttribute, @unchecked Sendable {
    /// Where the characteristic lies in the database of the peripheral; `nil` for one of this machine.
    let handles: Handles?
    private let content: Protected<Content>

    /// Where a characteristic lies.
    struct Handles: Hashable {
        let value: AttributeHandle
        /// Where its descriptors lie; `nil` if there can be none.
        let descriptors: AttributeHandleRange?

        init(_ found: DiscoveredCharacteristic) {
            value = found.value
            descriptors = AttributeHandleRange(found.value, found.end).flatMap { $0.after(found.value) }
        }

        /// The value and its descriptors.
        var range: AttributeHandleRange? { AttributeHandleRange(value, descriptors?.end ?? value) }
    }

    private struct Content {
        weak var service: CBService?
        var properties: CBCharacteristicProperties
        var value: Data?
        var descriptors: [CBDescriptor]?
        var subscription = Subscription.none
    }

    /// Creates a characteristic of a peripheral.
    init(_ found: DiscoveredCharacteristic, of service: CBService) {
        handles = Handles(found)
        let properties = CBCharacteristicProperties(rawValue: UInt(found.properties))
        content = Protected(Content(service: service, properties: properties))
        super.init(type: CBUUID(found.uuid))
    }

    /// Creates a characteristic of this machine.
    init(local type: CBUUID, properties: CBCharacteristicProperties, value: Data?) {
        handles = nil
        content = Protected(Content(properties: properties, value: value))
        super.init(type: type)
    }

    /// The service that the characteristic belongs to.
    open weak var service: CBService? { content.withLock { $0.service } }

    /// What the characteristic can do.
    open var properties: CBCharacteristicProperties { content.withLock { $0.properties } }

    /// What was last read or notified; for a characteristic of this machine, what the app has put there.
    open var value: Data? { content.withLock { $0.value } }

    /// What describes the characteristic; `nil` before it has been discovered.
    open var descriptors: [CBDescriptor]? { content.withLock { $0.descriptors } }

    /// Whether the characteristic is part of an advertisement; always `false`, as on Apple's systems.
    @available(*, deprecated)
    open var isBroadcasted: Bool { false }

    /// Whether the characteristic sends its value by itself, as notifications or as indications.
    open var isNotifying: Bool { content.withLock { $0.subscription != .none } }

    /// The type, the value and where the object stands, for logs.
    open override var description: String {
        let now = content.current
        let value = now.value.map { "<" + $0.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined() + ">" }
        return "<\(Swift.type(of: self)): \(address), UUID = \(uuid), properties = 0x"
            + String(now.properties.rawValue, radix: 16, uppercase: true)
            + ", value = \(value ?? "(null)"), notifying = \(now.subscription != .none ? "YES" : "NO")>"
    }

    /// What the characteristic sends by itself.
    var subscription: Subscription {
        get { content.withLock { $0.subscription } }
        set { content.withLock { $0.subscription = newValue } }
    }

    func setService(_ service: CBService?) { content.withLock { $0.service = service } }
    func setProperties(_ properties: CBCharacteristicProperties) { content.withLock { $0.properties = properties } }
    func setValue(_ value: Data?) { content.withLock { $0.value = value } }

    /// Keeps `octets` as the value, in the room of the one before if nobody else has that and it is as long.
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
