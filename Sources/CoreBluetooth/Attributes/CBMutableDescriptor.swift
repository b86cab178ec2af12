import BLEWire
import Foundation

/// A local descriptor.
///
/// An app can create two types: the user description (2901) and the presentation format (2904). The host adds Client
/// Characteristic Configuration descriptors (2902) by itself.
open class CBMutableDescriptor: CBDescriptor, @unchecked Sendable {
    /// The octets that clients read.
    let octets: [UInt8]

    /// The length of a presentation format, in octets: Core 6.0, Vol 3, Part G, 3.3.3.5.
    private static let formatLength = 7

    /// Creates a descriptor with a constant value.
    ///
    /// - Precondition: `UUID` is 2901 and `value` is a `String`, or `UUID` is 2904 and `value` is `Data` of at least 7
    ///   octets; anything else ends the program, as on Apple's systems.
    public init(type UUID: CBUUID, value: Any?) {
        switch (UUID.value.attributeForm, value) {
        case (.short(0x2901), let text as String): octets = [UInt8](text.utf8)
        case (.short(0x2904), let data as Data):
            guard data.count >= Self.formatLength else {
                raise(
                    "A Characteristic Presentation Format descriptor must have at least "
                        + "\(Self.formatLength) octets as its value, not \(data.count)"
                )
            }
            octets = [UInt8](data)
        case (.short(0x2901), _):
            raise("A Characteristic User Description descriptor must have a string as its value")
        case (.short(0x2904), _):
            raise("A Characteristic Presentation Format descriptor must have data as its value")
        case (.short, _), (.medium, _), (.long, _):
            raise("Descriptors of type \(UUID.uuidString) cannot be created, only those of type 2901 and 2904")
        }
        super.init(local: UUID, value: value)
    }

    /// Creates a descriptor of any type that a host can publish.
    ///
    /// This is for restored services, and for tools that publish the device that a file describes.
    ///
    /// The property `value` is a `String` for the user description (2901), otherwise `Data`.
    package init(type UUID: CBUUID, octets: [UInt8]) {
        self.octets = octets
        let isText = UUID.value.attributeForm == .short(0x2901)
        super.init(local: UUID, value: isText ? String(decoding: octets, as: UTF8.self) : Data(octets))
    }
}
