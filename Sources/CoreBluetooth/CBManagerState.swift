/// Whether a manager can be used.
@nonexhaustive
public enum CBManagerState: Int, BitwiseCopyable, Sendable {
    /// Not known yet; an update follows.
    case unknown = 0
    /// The connection to the host was lost for a moment; an update follows.
    case resetting = 1
    /// There is no host or no controller that knows Bluetooth LE.
    case unsupported = 2
    /// The app may not use Bluetooth.
    case unauthorized = 3
    /// The radio is off.
    case poweredOff = 4
    /// The radio is on and commands are accepted.
    case poweredOn = 5
}

/// Whether an app may use Bluetooth.
@nonexhaustive
public enum CBManagerAuthorization: Int, BitwiseCopyable, Sendable {
    /// Nobody has been asked yet.
    case notDetermined = 0
    /// The app may not, and the user cannot change that.
    case restricted = 1
    /// The user said no.
    case denied = 2
    /// The app may, at all times.
    case allowedAlways = 3
}

/// Whether a central manager can be used, as apps of long ago spell it.
@available(*, deprecated, message: "Use CBManagerState instead.")
@nonexhaustive
public enum CBCentralManagerState: Int, BitwiseCopyable, Sendable {
    /// Not known yet; an update follows.
    case unknown = 0
    /// The connection to the host was lost for a moment; an update follows.
    case resetting = 1
    /// There is no host or no controller that knows Bluetooth LE.
    case unsupported = 2
    /// The app may not use Bluetooth.
    case unauthorized = 3
    /// The radio is off.
    case poweredOff = 4
    /// The radio is on and commands are accepted.
    case poweredOn = 5
}

/// Whether a peripheral manager can be used, as apps of long ago spell it.
@available(*, deprecated, message: "Use CBManagerState instead.")
@nonexhaustive
public enum CBPeripheralManagerState: Int, BitwiseCopyable, Sendable {
    /// Not known yet; an update follows.
    case unknown = 0
    /// The connection to the host was lost for a moment; an update follows.
    case resetting = 1
    /// There is no host or no controller that knows Bluetooth LE.
    case unsupported = 2
    /// The app may not use Bluetooth.
    case unauthorized = 3
    /// The radio is off.
    case poweredOff = 4
    /// The radio is on and commands are accepted.
    case poweredOn = 5
}

/// Whether an app may act as a peripheral, as apps of long ago spell it.
@available(*, deprecated, message: "Use CBManagerAuthorization instead.")
@nonexhaustive
public enum CBPeripheralManagerAuthorizationStatus: Int, BitwiseCopyable, Sendable {
    /// Nobody has been asked yet.
    case notDetermined = 0
    /// The app may not, and the user cannot change that.
    case restricted = 1
    /// The user said no.
    case denied = 2
    /// The app may.
    case authorized = 3
}
