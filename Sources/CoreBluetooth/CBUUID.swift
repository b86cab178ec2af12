package import BLEWire
public import CoreFoundation
public import Foundation

/// The type of a service, characteristic or descriptor.
///
/// A UUID keeps the length with which it was created, 2, 4 or 16 octets, because it is sent over the air with that
/// length. A short UUID equals its 128-bit form: 180D is 0000180D-0000-1000-8000-00805F9B34FB.
///
/// Threads may share a UUID, since it never changes.
open class CBUUID: NSObject, NSCopying, @unchecked Sendable {
    /// The UUID as the host represents it.
    package let value: BluetoothUUID

    package init(_ value: BluetoothUUID) { self.value = value }

    /// Creates a 128-bit UUID of zeros, as a placeholder.
    public override init() { value = .full(0) }

    /// Creates a UUID from 4 or 8 hexadecimal digits, with or without 0x, or from 36 characters with hyphens.
    ///
    /// - Precondition: The text has one of these forms; any other text ends the program, as on Apple's systems.
    public init(string theString: String) {
        let hasPrefix = theString.hasPrefix("0x") || theString.hasPrefix("0X")
        guard let value = BluetoothUUID(hasPrefix ? String(theString.dropFirst(2)) : theString),
            !hasPrefix || value.octets.count <= 4
        else {
            raise("String \"\(theString)\" does not represent a valid UUID")
        }
        self.value = value
    }

    /// Creates a UUID from 2, 4 or 16 octets, most significant first.
    ///
    /// - Precondition: `theData` has 2, 4 or 16 octets; any other number ends the program, as on Apple's systems.
    public init(data theData: Data) {
        guard let value = BluetoothUUID(octets: theData.reversed()[...]) else {
            raise("Data \(theData as NSData) does not represent a valid UUID")
        }
        self.value = value
    }

    /// Creates a 128-bit UUID.
    public init(nsuuid theUUID: UUID) { value = .full(theUUID.bits) }

    /// Creates a 128-bit UUID (deprecated spelling).
    public init(NSUUID theUUID: UUID) { value = .full(theUUID.bits) }

    /// Creates a 128-bit UUID (deprecated spelling).
    @available(*, deprecated, message: "Use init(nsuuid:) instead.")
    public init(cfuuid theUUID: CFUUID) { value = .full(theUUID.bits) }

    /// Creates a 128-bit UUID (deprecated spelling).
    @available(*, deprecated, message: "Use init(nsuuid:) instead.")
    public init(CFUUID theUUID: CFUUID) { value = .full(theUUID.bits) }

    /// The UUID as 2, 4 or 16 octets, most significant first; a short UUID is not expanded.
    open var data: Data { Data(value.octets.reversed()) }

    /// The UUID as 4, 8 or 36 uppercase characters; a short UUID is not expanded.
    open var uuidString: String { value.description }

    /// Returns this object, because a UUID never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns whether `object` is the same UUID, even if its length is different.
    open override func isEqual(_ object: Any?) -> Bool { (object as? CBUUID)?.value == value }

    /// The hash value, which is the same for the short and the 128-bit form of a UUID.
    open override var hash: Int { value.hashValue }

    /// The name of the UUID in the Assigned Numbers if it has one; otherwise ``uuidString``.
    open override var description: String { AssignedNames.attribute(value) ?? uuidString }
}

/// The descriptor that tells whether a characteristic supports reliable writes, and whether its user description can be
/// written (Characteristic Extended Properties).
public let CBUUIDCharacteristicExtendedPropertiesString: String = "2900"

/// The descriptor with a textual description (Characteristic User Description).
public let CBUUIDCharacteristicUserDescriptionString: String = "2901"

/// The descriptor with which a client subscribes (Client Characteristic Configuration).
public let CBUUIDClientCharacteristicConfigurationString: String = "2902"

/// The descriptor with which a client makes the server broadcast a value (Server Characteristic Configuration).
public let CBUUIDServerCharacteristicConfigurationString: String = "2903"

/// The descriptor with the format and unit of a value (Characteristic Presentation Format).
public let CBUUIDCharacteristicFormatString: String = "2904"

/// The descriptor that refers to the format of each part of a compound value (Characteristic Aggregate Format).
public let CBUUIDCharacteristicAggregateFormatString: String = "2905"

/// The descriptor with the limits of a value (Valid Range).
public let CBUUIDCharacteristicValidRangeString: String = "2906"

/// The descriptor that tells at which times a value is observed (Observation Schedule).
public let CBUUIDCharacteristicObservationScheduleString: String = "2910"

/// The characteristic with which a device announces the PSM of an L2CAP channel: two octets, least significant first.
public let CBUUIDL2CAPPSMCharacteristicString: String = "ABDD3056-28FA-441D-A470-55A75A52553A"
