// States and kinds of Core Bluetooth. They are enumerations of C, which have room for numbers without a name, as on
// Apple's systems: `CBManagerState(rawValue: 99)` is no `nil`. Swift takes them for its own module CoreBluetooth, since
// this module of C bears the same name.
#define CB_ENUM(name) enum __attribute__((enum_extensibility(open))) name : long
#define CB_OLD_ENUM(name, hint) enum __attribute__((enum_extensibility(open), deprecated(hint))) name : long
#define CB_CASE(name) __attribute__((swift_name(name)))

/// Whether a manager can be used.
CB_ENUM(CBManagerState) {
    /// Not known yet; an update follows.
    CBManagerStateUnknown CB_CASE("unknown") = 0,
    /// The connection to the host was lost for a moment; an update follows.
    CBManagerStateResetting CB_CASE("resetting") = 1,
    /// There is no host or no controller that knows Bluetooth LE.
    CBManagerStateUnsupported CB_CASE("unsupported") = 2,
    /// The app may not use Bluetooth.
    CBManagerStateUnauthorized CB_CASE("unauthorized") = 3,
    /// The radio is off.
    CBManagerStatePoweredOff CB_CASE("poweredOff") = 4,
    /// The radio is on and commands are accepted.
    CBManagerStatePoweredOn CB_CASE("poweredOn") = 5,
};

/// Whether an app may use Bluetooth.
CB_ENUM(CBManagerAuthorization) {
    /// Nobody has been asked yet.
    CBManagerAuthorizationNotDetermined CB_CASE("notDetermined") = 0,
    /// The app may not, and the user cannot change that.
    CBManagerAuthorizationRestricted CB_CASE("restricted") = 1,
    /// The user said no.
    CBManagerAuthorizationDenied CB_CASE("denied") = 2,
    /// The app may, at all times.
    CBManagerAuthorizationAllowedAlways CB_CASE("allowedAlways") = 3,
};

/// Whether a central manager can be used, as apps of long ago spell it.
CB_OLD_ENUM(CBCentralManagerState, "Use CBManagerState instead.") {
    /// Not known yet; an update follows.
    CBCentralManagerStateUnknown CB_CASE("unknown") = 0,
    /// The connection to the host was lost for a moment; an update follows.
    CBCentralManagerStateResetting CB_CASE("resetting") = 1,
    /// There is no host or no controller that knows Bluetooth LE.
    CBCentralManagerStateUnsupported CB_CASE("unsupported") = 2,
    /// The app may not use Bluetooth.
    CBCentralManagerStateUnauthorized CB_CASE("unauthorized") = 3,
    /// The radio is off.
    CBCentralManagerStatePoweredOff CB_CASE("poweredOff") = 4,
    /// The radio is on and commands are accepted.
    CBCentralManagerStatePoweredOn CB_CASE("poweredOn") = 5,
};

/// Whether a peripheral manager can be used, as apps of long ago spell it.
CB_OLD_ENUM(CBPeripheralManagerState, "Use CBManagerState instead.") {
    /// Not known yet; an update follows.
    CBPeripheralManagerStateUnknown CB_CASE("unknown") = 0,
    /// The connection to the host was lost for a moment; an update follows.
    CBPeripheralManagerStateResetting CB_CASE("resetting") = 1,
    /// There is no host or no controller that knows Bluetooth LE.
    CBPeripheralManagerStateUnsupported CB_CASE("unsupported") = 2,
    /// The app may not use Bluetooth.
    CBPeripheralManagerStateUnauthorized CB_CASE("unauthorized") = 3,
    /// The radio is off.
    CBPeripheralManagerStatePoweredOff CB_CASE("poweredOff") = 4,
    /// The radio is on and commands are accepted.
    CBPeripheralManagerStatePoweredOn CB_CASE("poweredOn") = 5,
};

/// Whether an app may act as a peripheral, as apps of long ago spell it.
CB_OLD_ENUM(CBPeripheralManagerAuthorizationStatus, "Use CBManagerAuthorization instead.") {
    /// Nobody has been asked yet.
    CBPeripheralManagerAuthorizationStatusNotDetermined CB_CASE("notDetermined") = 0,
    /// The app may not, and the user cannot change that.
    CBPeripheralManagerAuthorizationStatusRestricted CB_CASE("restricted") = 1,
    /// The user said no.
    CBPeripheralManagerAuthorizationStatusDenied CB_CASE("denied") = 2,
    /// The app may.
    CBPeripheralManagerAuthorizationStatusAuthorized CB_CASE("authorized") = 3,
};

/// How a manager stands to a peripheral.
CB_ENUM(CBPeripheralState) {
    /// No connection, and none wanted.
    CBPeripheralStateDisconnected CB_CASE("disconnected") = 0,
    /// A connection is wanted.
    CBPeripheralStateConnecting CB_CASE("connecting") = 1,
    /// Requests are accepted.
    CBPeripheralStateConnected CB_CASE("connected") = 2,
    /// The connection is being given up.
    CBPeripheralStateDisconnecting CB_CASE("disconnecting") = 3,
};

/// What happened to a connection between this machine and a peer, whichever app wanted it.
CB_ENUM(CBConnectionEvent) {
    /// The peer is gone.
    CBConnectionEventPeerDisconnected CB_CASE("peerDisconnected") = 0,
    /// The peer is connected.
    CBConnectionEventPeerConnected CB_CASE("peerConnected") = 1,
};

/// How a value is written.
CB_ENUM(CBCharacteristicWriteType) {
    /// The peripheral answers, and the delegate hears of it.
    CBCharacteristicWriteTypeWithResponse CB_CASE("withResponse") = 0,
    /// The peripheral does not answer.
    CBCharacteristicWriteTypeWithoutResponse CB_CASE("withoutResponse") = 1,
};

/// A trade between delay and energy, for a connection to a central.
CB_ENUM(CBPeripheralManagerConnectionLatency) {
    /// Answers soon.
    CBPeripheralManagerConnectionLatencyLow CB_CASE("low") = 0,
    /// Between the two.
    CBPeripheralManagerConnectionLatencyMedium CB_CASE("medium") = 1,
    /// Saves energy.
    CBPeripheralManagerConnectionLatencyHigh CB_CASE("high") = 2,
};
