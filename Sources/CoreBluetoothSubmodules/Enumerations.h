// The enumerations of Core Bluetooth. They are C enumerations because, as on Apple's systems, raw values without a name
// must be accepted: `CBManagerState(rawValue: 99)` is not `nil`. Swift adds them to its own module CoreBluetooth,
// because this C module has the same name.
#define CB_ENUM(name) enum __attribute__((enum_extensibility(open))) name : long
#define CB_OLD_ENUM(name, hint) enum __attribute__((enum_extensibility(open), deprecated(hint))) name : long
#define CB_CASE(name) __attribute__((swift_name(name)))

/// The state of a manager, which says if the app can use Bluetooth now.
CB_ENUM(CBManagerState) {
    /// The state is not known yet; an update follows.
    CBManagerStateUnknown CB_CASE("unknown") = 0,
    /// The connection to the host is interrupted; an update follows.
    CBManagerStateResetting CB_CASE("resetting") = 1,
    /// There is no host, or no controller that supports Bluetooth LE.
    CBManagerStateUnsupported CB_CASE("unsupported") = 2,
    /// The app is not allowed to use Bluetooth.
    CBManagerStateUnauthorized CB_CASE("unauthorized") = 3,
    /// The radio is off.
    CBManagerStatePoweredOff CB_CASE("poweredOff") = 4,
    /// The radio is on and commands are accepted.
    CBManagerStatePoweredOn CB_CASE("poweredOn") = 5,
};

/// The permission of an app to use Bluetooth.
CB_ENUM(CBManagerAuthorization) {
    /// It has not been decided yet whether the app is allowed to use Bluetooth.
    CBManagerAuthorizationNotDetermined CB_CASE("notDetermined") = 0,
    /// The app is not allowed to use Bluetooth, and the user cannot change that.
    CBManagerAuthorizationRestricted CB_CASE("restricted") = 1,
    /// The user has refused to let the app use Bluetooth.
    CBManagerAuthorizationDenied CB_CASE("denied") = 2,
    /// The app is always allowed to use Bluetooth.
    CBManagerAuthorizationAllowedAlways CB_CASE("allowedAlways") = 3,
};

/// The state of a central manager, under the name that older apps use.
CB_OLD_ENUM(CBCentralManagerState, "Use CBManagerState instead.") {
    /// The state is not known yet; an update follows.
    CBCentralManagerStateUnknown CB_CASE("unknown") = 0,
    /// The connection to the host is interrupted; an update follows.
    CBCentralManagerStateResetting CB_CASE("resetting") = 1,
    /// There is no host, or no controller that supports Bluetooth LE.
    CBCentralManagerStateUnsupported CB_CASE("unsupported") = 2,
    /// The app is not allowed to use Bluetooth.
    CBCentralManagerStateUnauthorized CB_CASE("unauthorized") = 3,
    /// The radio is off.
    CBCentralManagerStatePoweredOff CB_CASE("poweredOff") = 4,
    /// The radio is on and commands are accepted.
    CBCentralManagerStatePoweredOn CB_CASE("poweredOn") = 5,
};

/// The state of a peripheral manager, under the name that older apps use.
CB_OLD_ENUM(CBPeripheralManagerState, "Use CBManagerState instead.") {
    /// The state is not known yet; an update follows.
    CBPeripheralManagerStateUnknown CB_CASE("unknown") = 0,
    /// The connection to the host is interrupted; an update follows.
    CBPeripheralManagerStateResetting CB_CASE("resetting") = 1,
    /// There is no host, or no controller that supports Bluetooth LE.
    CBPeripheralManagerStateUnsupported CB_CASE("unsupported") = 2,
    /// The app is not allowed to use Bluetooth.
    CBPeripheralManagerStateUnauthorized CB_CASE("unauthorized") = 3,
    /// The radio is off.
    CBPeripheralManagerStatePoweredOff CB_CASE("poweredOff") = 4,
    /// The radio is on and commands are accepted.
    CBPeripheralManagerStatePoweredOn CB_CASE("poweredOn") = 5,
};

/// The permission of an app to act as a peripheral, under the name that older apps use.
CB_OLD_ENUM(CBPeripheralManagerAuthorizationStatus, "Use CBManagerAuthorization instead.") {
    /// It has not been decided yet whether the app is allowed to use Bluetooth.
    CBPeripheralManagerAuthorizationStatusNotDetermined CB_CASE("notDetermined") = 0,
    /// The app is not allowed to use Bluetooth, and the user cannot change that.
    CBPeripheralManagerAuthorizationStatusRestricted CB_CASE("restricted") = 1,
    /// The user has refused to let the app use Bluetooth.
    CBPeripheralManagerAuthorizationStatusDenied CB_CASE("denied") = 2,
    /// The app is allowed to act as a peripheral.
    CBPeripheralManagerAuthorizationStatusAuthorized CB_CASE("authorized") = 3,
};

/// The state of the connection from a central manager to a peripheral.
CB_ENUM(CBPeripheralState) {
    /// There is no connection, and the app has not requested one.
    CBPeripheralStateDisconnected CB_CASE("disconnected") = 0,
    /// The app has requested a connection, and waits for it.
    CBPeripheralStateConnecting CB_CASE("connecting") = 1,
    /// The peripheral is connected, and the app can make requests.
    CBPeripheralStateConnected CB_CASE("connected") = 2,
    /// The connection is being closed.
    CBPeripheralStateDisconnecting CB_CASE("disconnecting") = 3,
};

/// A change of the connection between this machine and a peer, regardless of which app requested it.
CB_ENUM(CBConnectionEvent) {
    /// The peer is disconnected.
    CBConnectionEventPeerDisconnected CB_CASE("peerDisconnected") = 0,
    /// The peer is connected.
    CBConnectionEventPeerConnected CB_CASE("peerConnected") = 1,
};

/// The kind of a write: with or without a response.
CB_ENUM(CBCharacteristicWriteType) {
    /// The peripheral responds, and the delegate receives the result.
    CBCharacteristicWriteTypeWithResponse CB_CASE("withResponse") = 0,
    /// The peripheral does not respond.
    CBCharacteristicWriteTypeWithoutResponse CB_CASE("withoutResponse") = 1,
};

/// The balance between fast responses and low energy use, for a connection to a central.
CB_ENUM(CBPeripheralManagerConnectionLatency) {
    /// Responses are fast, and cost more energy.
    CBPeripheralManagerConnectionLatencyLow CB_CASE("low") = 0,
    /// A compromise between low and high latency.
    CBPeripheralManagerConnectionLatencyMedium CB_CASE("medium") = 1,
    /// Responses are slower, and cost less energy.
    CBPeripheralManagerConnectionLatencyHigh CB_CASE("high") = 2,
};
