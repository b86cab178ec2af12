import BLEWire
import Foundation

/// What describes a characteristic of this machine.
///
/// Two kinds can be made: a description in words (2901) and a presentation format (2904). Those by which a client asks
/// for notifications come by themselves.
open class CBMutableDescriptor: CBDescriptor {
    /// The octets that clients read.
    let octets: [UInt8]

    /// Creates a descriptor with a value that never changes.
    ///
    /// - Precondition: `UUID` is 2901 and `value` is a `String`, or `UUID` is 2904 and `value` is `Data`; anything else
    ///   ends the program, as on Apple's systems.
    public init(type UUID: CBUUID, value: Any?) {
        switch (UUID.value.attributeForm, value) {
        case (.short(0x2901), let text as String): octets = [UInt8](text.utf8)
        case (.short(0x2904), let data as Data): octets = [UInt8](data)
        case (.short(0x2901), _):
            raise("A Characteristic User Description descriptor must have a string as its value")
        case (.short(0x2904), _):
            raise("A Characteristic Presentation Format descriptor must have data as its value")
        case (.short, _), (.medium, _), (.long, _):
            raise("Descriptors of type \(UUID.uuidString) can not be created")
        }
        super.init(local: UUID, value: value)
    }
}
