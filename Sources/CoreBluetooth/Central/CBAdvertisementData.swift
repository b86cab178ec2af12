/// The name of the device: a `String`.
public let CBAdvertisementDataLocalNameKey: String = "kCBAdvDataLocalName"

/// The transmit power of the device, in dBm: an `NSNumber`.
public let CBAdvertisementDataTxPowerLevelKey: String = "kCBAdvDataTxPowerLevel"

/// The services that the device advertises: `[CBUUID]`.
public let CBAdvertisementDataServiceUUIDsKey: String = "kCBAdvDataServiceUUIDs"

/// The data that the device advertises for each service: `[CBUUID: Data]`.
public let CBAdvertisementDataServiceDataKey: String = "kCBAdvDataServiceData"

/// Manufacturer data: `Data`, starting with the company identifier, least significant octet first.
public let CBAdvertisementDataManufacturerDataKey: String = "kCBAdvDataManufacturerData"

/// The services that the device advertises in the overflow area, among those that the app scans for: `[CBUUID]`.
///
/// Apps on Apple's systems advertise there while they are in the background.
public let CBAdvertisementDataOverflowServiceUUIDsKey: String = "kCBAdvDataHashedServiceUUIDs"

/// True if the device accepts connections: an `NSNumber` with a `Bool`.
public let CBAdvertisementDataIsConnectable: String = "kCBAdvDataIsConnectable"

/// The services that the device solicits: `[CBUUID]`.
public let CBAdvertisementDataSolicitedServiceUUIDsKey: String = "kCBAdvDataSolicitedServiceUUIDs"
