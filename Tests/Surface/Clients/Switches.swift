import CoreBluetooth

/// Switches over all that there is, with a way out for what is to come, in either form.
struct Switches {
    func withDefault(_ state: CBManagerState) -> Bool {
        switch state {
        case .unknown, .resetting, .unsupported, .unauthorized, .poweredOff: false
        case .poweredOn: true
        default: false
        }
    }

    func withUnknownDefault(_ authorization: CBManagerAuthorization) -> Bool {
        switch authorization {
        case .notDetermined, .restricted, .denied: false
        case .allowedAlways: true
        @unknown default: false
        }
    }

    func withDefault(_ type: CBCharacteristicWriteType) -> Bool {
        switch type {
        case .withResponse: true
        case .withoutResponse: false
        default: false
        }
    }
}
