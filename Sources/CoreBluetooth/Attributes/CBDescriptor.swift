import BLEHost
import BLEWire
import Foundation

/// A descriptor of a characteristic.
open class CBDescriptor: CBAttribute, @unchecked Sendable {
    /// The handle on the peripheral; `nil` for a local descriptor.
    let handle: AttributeHandle?
    private let content: Protected<Content>

    /// The properties that can change, protected by a lock.
    private struct Content {
        weak var characteristic: CBCharacteristic?
        var value: Any?
    }

    /// Creates a descriptor that was discovered on a peripheral.
    init(_ found: DiscoveredDescriptor, of characteristic: CBCharacteristic) {
        handle = found.handle
        content = Protected(Content(characteristic: characteristic))
        super.init(type: CBUUID(found.uuid))
    }

    /// Creates a local descriptor.
    init(local type: CBUUID, value: Any?) {
        handle = nil
        content = Protected(Content(value: value))
        super.init(type: type)
    }

    /// The characteristic that the descriptor belongs to.
    open weak var characteristic: CBCharacteristic? { content.withLock { $0.characteristic } }

    /// The value that was last read; `nil` until then.
    ///
    /// For a local descriptor, its constant value.
    ///
    /// The type of the value depends on the type of the descriptor:
    ///
    /// | descriptor | type |
    /// | --- | --- |
    /// | 2900, 2902, 2903 | `NSNumber` |
    /// | 2901 | `String` |
    /// | any other | `Data` |
    open var value: Any? { content.withLock { $0.value } }

    /// The memory address of the object, its UUID and its value, for logs.
    open override var description: String {
        "<\(Swift.type(of: self)): \(address), UUID = \(uuid), value = \(value.map { "\($0)" } ?? "(null)")>"
    }

    func setCharacteristic(_ new: CBCharacteristic?) { content.withLock { $0.characteristic = new } }

    /// Converts `octets` to the type that the value of this descriptor has, and sets the value.
    func setValue(_ octets: [UInt8]) {
        let value: Any =
            switch uuid.value.attributeForm {
            case .short(0x2900), .short(0x2902), .short(0x2903):
                NSNumber(value: octets.prefix(2).reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
            case .short(0x2901): String(decoding: octets, as: UTF8.self)
            case .short, .medium, .long: Data(octets)
            }
        content.withLock { $0.value = value }
    }
}
