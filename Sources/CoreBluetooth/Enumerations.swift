@_exported public import CoreBluetooth

// The enumerations are declared in `CoreBluetoothSubmodules/Enumerations.h`. These extensions give their cases names in
// logs. They use `CustomDebugStringConvertible`, so that an app can still add `CustomStringConvertible`.

extension CBManagerState: CustomDebugStringConvertible {
    /// The name of the case, or its number.
    public var debugDescription: String {
        switch self {
        case .unknown: "unknown"
        case .resetting: "resetting"
        case .unsupported: "unsupported"
        case .unauthorized: "unauthorized"
        case .poweredOff: "poweredOff"
        case .poweredOn: "poweredOn"
        @unknown default: "CBManagerState(rawValue: \(rawValue))"
        }
    }
}

extension CBManagerAuthorization: CustomDebugStringConvertible {
    /// The name of the case, or its number.
    public var debugDescription: String {
        switch self {
        case .notDetermined: "notDetermined"
        case .restricted: "restricted"
        case .denied: "denied"
        case .allowedAlways: "allowedAlways"
        @unknown default: "CBManagerAuthorization(rawValue: \(rawValue))"
        }
    }
}

@available(*, deprecated)
extension CBCentralManagerState: CustomDebugStringConvertible {
    /// The name of the case, or its number.
    public var debugDescription: String {
        switch self {
        case .unknown: "unknown"
        case .resetting: "resetting"
        case .unsupported: "unsupported"
        case .unauthorized: "unauthorized"
        case .poweredOff: "poweredOff"
        case .poweredOn: "poweredOn"
        @unknown default: "CBCentralManagerState(rawValue: \(rawValue))"
        }
    }
}

@available(*, deprecated)
extension CBPeripheralManagerState: CustomDebugStringConvertible {
    /// The name of the case, or its number.
    public var debugDescription: String {
        switch self {
        case .unknown: "unknown"
        case .resetting: "resetting"
        case .unsupported: "unsupported"
        case .unauthorized: "unauthorized"
        case .poweredOff: "poweredOff"
        case .poweredOn: "poweredOn"
        @unknown default: "CBPeripheralManagerState(rawValue: \(rawValue))"
        }
    }
}

@available(*, deprecated)
extension CBPeripheralManagerAuthorizationStatus: CustomDebugStringConvertible {
    /// The name of the case, or its number.
    public var debugDescription: String {
        switch self {
        case .notDetermined: "notDetermined"
        case .restricted: "restricted"
        case .denied: "denied"
        case .authorized: "authorized"
        @unknown default: "CBPeripheralManagerAuthorizationStatus(rawValue: \(rawValue))"
        }
    }
}

extension CBPeripheralState: CustomDebugStringConvertible {
    /// The name of the case, or its number.
    public var debugDescription: String {
        switch self {
        case .disconnected: "disconnected"
        case .connecting: "connecting"
        case .connected: "connected"
        case .disconnecting: "disconnecting"
        @unknown default: "CBPeripheralState(rawValue: \(rawValue))"
        }
    }
}

extension CBConnectionEvent: CustomDebugStringConvertible {
    /// The name of the case, or its number.
    public var debugDescription: String {
        switch self {
        case .peerDisconnected: "peerDisconnected"
        case .peerConnected: "peerConnected"
        @unknown default: "CBConnectionEvent(rawValue: \(rawValue))"
        }
    }
}

extension CBCharacteristicWriteType: CustomDebugStringConvertible {
    /// The name of the case, or its number.
    public var debugDescription: String {
        switch self {
        case .withResponse: "withResponse"
        case .withoutResponse: "withoutResponse"
        @unknown default: "CBCharacteristicWriteType(rawValue: \(rawValue))"
        }
    }
}

extension CBPeripheralManagerConnectionLatency: CustomDebugStringConvertible {
    /// The name of the case, or its number.
    public var debugDescription: String {
        switch self {
        case .low: "low"
        case .medium: "medium"
        case .high: "high"
        @unknown default: "CBPeripheralManagerConnectionLatency(rawValue: \(rawValue))"
        }
    }
}
