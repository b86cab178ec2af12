/// Whether to tell the user that Bluetooth is off when a manager is created: an `NSNumber` that holds a `Bool`.
///
/// There is nobody to tell on a machine without a screen, so the option is accepted and changes nothing.
public let CBPeripheralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"

/// Names a manager across launches of its app: a `String`.
public let CBPeripheralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"

/// The services that an earlier launch published: `[CBMutableService]`.
public let CBPeripheralManagerRestoredStateServicesKey: String = "kCBRestoredServices"

/// What an earlier launch advertised: `[String: Any]`.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey: String = "kCBRestoredAdvertisement"
