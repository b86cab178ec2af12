/// True to alert the user if Bluetooth is off when the manager is created: an `NSNumber` with a `Bool`.
///
/// Accepted, but has no effect: there is no screen to show an alert on.
public let CBPeripheralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"

/// The restore identifier of a manager: a `String`.
public let CBPeripheralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"

/// The services that an earlier launch published: `[CBMutableService]`.
public let CBPeripheralManagerRestoredStateServicesKey: String = "kCBRestoredServices"

/// The advertisement from an earlier launch: `[String: Any]`.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey: String = "kCBRestoredAdvertisement"
