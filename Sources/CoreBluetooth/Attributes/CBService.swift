import BLEHost
import BLEWire
import Foundation

/// A service: characteristics and included services that form one function of a device.
open class CBService: CBAttribute, @unchecked Sendable {
    /// The handle range on the peripheral; `nil` for a local service.
    let range: AttributeHandleRange?
    private let primary: Bool
    private let content: Protected<Content>

    /// The properties that can change, protected by a lock.
    private struct Content {
        weak var peripheral: CBPeripheral?
        var includedServices: [CBService]?
        var characteristics: [CBCharacteristic]?
    }

    /// Creates a service that was discovered on a peripheral.
    init(_ found: DiscoveredService, of peripheral: CBPeripheral) {
        range = found.range
        primary = found.isPrimary
        content = Protected(Content(peripheral: peripheral))
        super.init(type: CBUUID(found.uuid))
    }

    /// Creates a local service.
    init(local type: CBUUID, primary: Bool) {
        range = nil
        self.primary = primary
        content = Protected(Content())
        super.init(type: type)
    }

    /// The peripheral that offers the service; `nil` for a local service.
    open weak var peripheral: CBPeripheral? { content.withLock { $0.peripheral } }

    /// True if the service is a primary service; `false` if it exists only to be included in other services.
    open var isPrimary: Bool { primary }

    /// The included services; `nil` until they have been discovered.
    open var includedServices: [CBService]? { content.withLock { $0.includedServices } }

    /// The characteristics; `nil` until they have been discovered.
    open var characteristics: [CBCharacteristic]? { content.withLock { $0.characteristics } }

    /// The memory address of the object, its UUID, and whether it is primary, for logs.
    open override var description: String {
        "<\(Swift.type(of: self)): \(address), isPrimary = \(isPrimary ? "YES" : "NO"), UUID = \(uuid)>"
    }

    func setIncludedServices(_ services: [CBService]?) { content.withLock { $0.includedServices = services } }
    func setCharacteristics(_ new: [CBCharacteristic]?) { content.withLock { $0.characteristics = new } }
}
