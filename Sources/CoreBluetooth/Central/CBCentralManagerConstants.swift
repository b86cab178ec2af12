/// Whether to alert the user if Bluetooth is off when the manager is created: an `NSNumber` with a `Bool`.
///
/// Accepted without effect: a machine without a screen has no alerts.
public let CBCentralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"

/// The restore identifier of a manager: a `String`.
public let CBCentralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"

/// Whether the manager is only used for media devices: an `NSNumber` with a `Bool`.
public let CBCentralManagerOptionDeviceAccessForMedia: String = "kCBInitOptionDeviceAccessForMedia"

/// Whether to report every advertisement of a device instead of one: an `NSNumber` with a `Bool`.
public let CBCentralManagerScanOptionAllowDuplicatesKey: String = "kCBScanOptionAllowDuplicates"

/// Solicited services: devices that solicit one of them are reported, too: `[CBUUID]`.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey: String = "kCBScanOptionSolicitedServiceUUIDs"

/// Whether to alert the user about a connection while the app is suspended: an `NSNumber` with a `Bool`.
///
/// A simulated world records a machine's alerts; with the daemon, an agent shows them; otherwise there are none.
public let CBConnectPeripheralOptionNotifyOnConnectionKey: String = "kCBConnectOptionNotifyOnConnection"

/// Whether to alert the user about a disconnection while the app is suspended: an `NSNumber` with a `Bool`.
///
/// A simulated world records a machine's alerts; with the daemon, an agent shows them; otherwise there are none.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey: String = "kCBConnectOptionNotifyOnDisconnection"

/// Whether to alert the user about notifications while the app is suspended: an `NSNumber` with a `Bool`.
///
/// A simulated world records a machine's alerts; with the daemon, an agent shows them; otherwise there are none.
public let CBConnectPeripheralOptionNotifyOnNotificationKey: String = "kCBConnectOptionNotifyOnNotification"

/// The delay before the first connection attempt, in seconds: an `NSNumber`.
public let CBConnectPeripheralOptionStartDelayKey: String = "kCBConnectOptionStartDelay"

/// Whether to connect the profiles of Bluetooth Classic, too: an `NSNumber` with a `Bool`.
public let CBConnectPeripheralOptionEnableTransportBridgingKey: String = "kCBConnectOptionEnableTransportBridging"

/// Whether the connection requires that the device can use the Apple Notification Center Service: an `NSNumber` with a
/// `Bool`.
public let CBConnectPeripheralOptionRequiresANCS: String = "kCBConnectOptionRequiresANCS"

/// Whether to reconnect when the link is lost: an `NSNumber` with a `Bool`.
public let CBConnectPeripheralOptionEnableAutoReconnect: String = "kCBConnectOptionEnableAutoReconnect"

/// The peripherals that were connected or connecting in an earlier launch: `[CBPeripheral]`.
public let CBCentralManagerRestoredStatePeripheralsKey: String = "kCBRestoredPeripherals"

/// The services that an earlier launch scanned for: `[CBUUID]`.
public let CBCentralManagerRestoredStateScanServicesKey: String = "kCBRestoredScanServices"

/// The scan options of an earlier launch: `[String: Any]`.
public let CBCentralManagerRestoredStateScanOptionsKey: String = "kCBRestoredScanOptions"

/// The keys for ``CBCentralManager/registerForConnectionEvents(options:)``.
public struct CBConnectionEventMatchingOption: Hashable, RawRepresentable, Sendable {
    /// The text of the key.
    public let rawValue: String

    /// Creates a key from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Peers that offer one of these services: `[CBUUID]`.
    public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")

    /// Peers with one of these identifiers: `[UUID]`.
    public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
