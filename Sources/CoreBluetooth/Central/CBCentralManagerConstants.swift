/// Whether to tell the user that Bluetooth is off when a manager is created: an `NSNumber` that holds a `Bool`.
///
/// There is nobody to tell on a machine without a screen, so the option is accepted and changes nothing.
public let CBCentralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"

/// Names a manager across launches of its app: a `String`.
public let CBCentralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"

/// Whether the manager is used for media devices alone: an `NSNumber` that holds a `Bool`.
public let CBCentralManagerOptionDeviceAccessForMedia: String = "kCBInitOptionDeviceAccessForMedia"

/// Whether to report every advertisement of a device, instead of one: an `NSNumber` that holds a `Bool`.
public let CBCentralManagerScanOptionAllowDuplicatesKey: String = "kCBScanOptionAllowDuplicates"

/// Services that a device may be looking for, instead of offering one that is scanned for: `[CBUUID]`.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey: String = "kCBScanOptionSolicitedServiceUUIDs"

/// Whether to alert the user of a connection while the app is suspended: an `NSNumber` that holds a `Bool`.
///
/// A simulated world keeps the alerts of a machine; on an adapter nobody is alerted.
public let CBConnectPeripheralOptionNotifyOnConnectionKey: String = "kCBConnectOptionNotifyOnConnection"

/// Whether to alert the user of a disconnection while the app is suspended: an `NSNumber` that holds a `Bool`.
///
/// A simulated world keeps the alerts of a machine; on an adapter nobody is alerted.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey: String = "kCBConnectOptionNotifyOnDisconnection"

/// Whether to alert the user of notifications while the app is suspended: an `NSNumber` that holds a `Bool`.
///
/// A simulated world keeps the alerts of a machine; on an adapter nobody is alerted.
public let CBConnectPeripheralOptionNotifyOnNotificationKey: String = "kCBConnectOptionNotifyOnNotification"

/// How long to wait before the first attempt to connect, in seconds: an `NSNumber`.
public let CBConnectPeripheralOptionStartDelayKey: String = "kCBConnectOptionStartDelay"

/// Whether to bring up the profiles of Bluetooth Classic as well: an `NSNumber` that holds a `Bool`.
public let CBConnectPeripheralOptionEnableTransportBridgingKey: String = "kCBConnectOptionEnableTransportBridging"

/// Whether the connection is of use only if the device may read the phone's alerts: an `NSNumber` that holds a `Bool`.
public let CBConnectPeripheralOptionRequiresANCS: String = "kCBConnectOptionRequiresANCS"

/// Whether to connect again when the link is lost: an `NSNumber` that holds a `Bool`.
public let CBConnectPeripheralOptionEnableAutoReconnect: String = "kCBConnectOptionEnableAutoReconnect"

/// The peripherals of an earlier launch that were connected or about to be: `[CBPeripheral]`.
public let CBCentralManagerRestoredStatePeripheralsKey: String = "kCBRestoredPeripherals"

/// The services that an earlier launch scanned for: `[CBUUID]`.
public let CBCentralManagerRestoredStateScanServicesKey: String = "kCBRestoredScanServices"

/// The options with which an earlier launch scanned: `[String: Any]`.
public let CBCentralManagerRestoredStateScanOptionsKey: String = "kCBRestoredScanOptions"

/// Which peers an app wants to hear of when they connect to this machine or leave it.
public struct CBConnectionEventMatchingOption: Hashable, RawRepresentable, Sendable {
    /// The key as it stands in the dictionary.
    public let rawValue: String

    /// Creates a key from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Peers that offer one of these services: `[CBUUID]`.
    public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")

    /// Peers that have one of these identifiers: `[UUID]`.
    public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
