import BLEHost
import BLEWire
import Foundation

/// Characteristics, and services that belong to them, which together make up one function of a device.
open class CBService: CBAttribute, @unchecked Sendable {
    /// Where the service lies in the database of the peripheral; `nil` for a service of this machine.
    let range: AttributeHandleRange?
    private let primary: Bool
    private let content: Protected<Content>

    private struct Content {
        weak var peripheral: CBPeripheral?
        var includedServices: [CBService]?
        var characteristics: [CBCharacteristic]?
    }

    /// Creates a service of a peripheral.
    init(_ found: DiscoveredService, of peripheral: CBPeripheral) {
        range = found.range
        primary = found.isPrimary
        content = Protected(Content(peripheral: peripheral))
        super.init(type: CBUUID(found.uuid))
    }

    /// Creates a service of this machine.
    init(local type: CBUUID, primary: Bool) {
        range = nil
        self.primary = primary
        content = Protected(Content())
        super.init(type: type)
    }

    /// The device that offers the service, or `nil` for a service of this machine.
    open weak var peripheral: CBPeripheral? { content.withLock { $0.peripheral } }

    /// Whether the service stands for itself, instead of being part of others.
    open var isPrimary: Bool { primary }

    /// The services that belong to this one; `nil` before they have been discovered.
    open var includedServices: [CBService]? { content.withLock { $0.includedServices } }

    /// The values of the service; `nil` before they have been discovered.
    open var characteristics: [CBCharacteristic]? { content.withLock { $0.characteristics } }

    /// The type and where the object stands, for logs.
    open override var description: String {
        "<\(Swift.type(of: self)): \(address), isPrimary = \(isPrimary ? "YES" : "NO"), UUID = \(uuid)>"
    }

    func setIncludedServices(_ services: [CBService]?) { content.withLock { $0.includedServices = services } }
    func setCharacteristics(_ new: [CBCharacteristic]?) { content.withLock { $0.characteristics = new } }
}
