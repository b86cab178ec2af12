package import BLEWire

/// The assigned UUIDs of GATT's own attributes.
///
/// Core 6.0, Vol 3, Part G, 3; Assigned Numbers, 3.4 to 3.8.
package enum GATT {
    package static let primaryService = BluetoothUUID.short(0x2800)
    package static let secondaryService = BluetoothUUID.short(0x2801)
    package static let include = BluetoothUUID.short(0x2802)
    package static let characteristic = BluetoothUUID.short(0x2803)

    package static let extendedProperties = BluetoothUUID.short(0x2900)
    package static let userDescription = BluetoothUUID.short(0x2901)
    package static let clientConfiguration = BluetoothUUID.short(0x2902)
    package static let serverConfiguration = BluetoothUUID.short(0x2903)
    package static let presentationFormat = BluetoothUUID.short(0x2904)
    package static let aggregateFormat = BluetoothUUID.short(0x2905)

    package static let genericAccess = BluetoothUUID.short(0x1800)
    package static let genericAttribute = BluetoothUUID.short(0x1801)

    package static let deviceName = BluetoothUUID.short(0x2A00)
    package static let appearance = BluetoothUUID.short(0x2A01)
    /// Central Address Resolution: Core 6.0, Vol 3, Part C, 12.4.
    package static let centralAddressResolution = BluetoothUUID.short(0x2AA6)
    package static let serviceChanged = BluetoothUUID.short(0x2A05)
    package static let clientFeatures = BluetoothUUID.short(0x2B29)
    package static let databaseHash = BluetoothUUID.short(0x2B2A)
    package static let serverFeatures = BluetoothUUID.short(0x2B3A)
    /// The bit of the Server Supported Features that announces Enhanced ATT bearers: Core 6.0, Vol 3, Part G, 7.4.
    package static let enhancedBearersSupported: UInt8 = 0x01
}
