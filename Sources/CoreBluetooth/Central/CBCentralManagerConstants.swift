/// True to alert the user if Bluetooth is off when the manager is created: an `NSNumber` with a `Bool`.
///
/// Accepted, but has no effect: there is no screen to show an alert on.
public let CBCentralManagerOptionShowPowerAlertKey: String = "kCBInitOptionShowPowerAlert"

/// The restore identifier of a manager: a `String`.
public let CBCentralManagerOptionRestoreIdentifierKey: String = "kCBInitOptionRestoreIdentifier"

/// True if the manager is used only for media devices: an `NSNumber` with a `Bool`.
///
/// Accepted, but has no effect.
public let CBCentralManagerOptionDeviceAccessForMedia: String = "kCBInitOptionDeviceAccessForMedia"

/// True to report every advertisement of a device, rather than each device once: an `NSNumber` with a `Bool`.
public let CBCentralManagerScanOptionAllowDuplicatesKey: String = "kCBScanOptionAllowDuplicates"

/// Solicited services, as `[CBUUID]`: devices that solicit at least one of them are reported as well.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey: String = "kCBScanOptionSolicitedServiceUUIDs"

/// True to alert the user about a connection while the app is suspended: an `NSNumber` with a `Bool`.
///
/// In a simulated world, the machine records the alerts. With the daemon, a program that uses `BluetoothAlerts` shows
/// them. Otherwise, there are no alerts.
public let CBConnectPeripheralOptionNotifyOnConnectionKey: String = "kCBConnectOptionNotifyOnConnection"

/// True to alert the user about a disconnection while the app is suspended: an `NSNumber` with a `Bool`.
///
/// In a simulated world, the machine records the alerts. With the daemon, a program that uses `BluetoothAlerts` shows
/// them. Otherwise, there are no alerts.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey: String = "kCBConnectOptionNotifyOnDisconnection"

/// True to alert the user about notifications while the app is suspended: an `NSNumber` with a `Bool`.
///
/// In a simulated world, the machine records the alerts. With the daemon, a program that uses `BluetoothAlerts` shows
/// them. Otherwise, there are no alerts.
public let CBConnectPeripheralOptionNotifyOnNotificationKey: String = "kCBConnectOptionNotifyOnNotification"

/// The delay before the first connection attempt, in seconds, at most a day: an `NSNumber`.
public let CBConnectPeripheralOptionStartDelayKey: String = "kCBConnectOptionStartDelay"

/// True to connect the profiles of Bluetooth Classic as well: an `NSNumber` with a `Bool`.
///
/// Accepted, but has no effect.
public let CBConnectPeripheralOptionEnableTransportBridgingKey: String = "kCBConnectOptionEnableTransportBridging"

/// True to connect only if the device may use the Apple Notification Center Service: an `NSNumber` with a `Bool`.
///
/// Accepted, but has no effect.
public let CBConnectPeripheralOptionRequiresANCS: String = "kCBConnectOptionRequiresANCS"

/// True to make the host reconnect when the link is lost: an `NSNumber` with a `Bool`.
public let CBConnectPeripheralOptionEnableAutoReconnect: String = "kCBConnectOptionEnableAutoReconnect"

/// The peripherals that an earlier launch was connected or connecting to: `[CBPeripheral]`.
public let CBCentralManagerRestoredStatePeripheralsKey: String = "kCBRestoredPeripherals"

/// The services that an earlier launch scanned for: `[CBUUID]`.
public let CBCentralManagerRestoredStateScanServicesKey: String = "kCBRestoredScanServices"

/// The scan options from an earlier launch: `[String: Any]`.
public let CBCentralManagerRestoredStateScanOptionsKey: String = "kCBRestoredScanOptions"

/// A key in the options of ``CBCentralManager/registerForConnectionEvents(options:)``.
public struct CBConnectionEventMatchingOption: Hashable, RawRepresentable, Sendable {
    /// The key as text.
    public let rawValue: String

    /// Creates a key from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The services to match, as `[CBUUID]`: a peer matches if it offers at least one of them.
    ///
    /// Only the first four services are used.
    public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")

    /// The identifiers to match, as `[UUID]`: a peer matches if it has one of them.
    public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}

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
