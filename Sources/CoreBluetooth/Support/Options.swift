import BLEHost
import BLEWire
import Foundation

extension ScanRequest {
    /// Reads the arguments of a scan call.
    ///
    /// Values of the wrong type are ignored with a warning.
    init(services: [CBUUID]?, options: [String: Any]?, console: Console) {
        let options = Options(options, console: console)
        self.init(
            services: services?.map(\.value) ?? [],
            solicitedServices: options.uuids(CBCentralManagerScanOptionSolicitedServiceUUIDsKey),
            allowsDuplicates: options.bool(CBCentralManagerScanOptionAllowDuplicatesKey)
        )
    }
}

extension ConnectRequest {
    /// Reads the options of a connect call.
    ///
    /// Values of the wrong type are ignored with a warning.
    init(options: [String: Any]?, console: Console) {
        let options = Options(options, console: console)
        let seconds = options.seconds(CBConnectPeripheralOptionStartDelayKey)
        self.init(
            startDelay: .milliseconds(Int(seconds * 1000)),
            reconnects: options.bool(CBConnectPeripheralOptionEnableAutoReconnect),
            alerts: options.alerts
        )
    }
}

/// The options dictionary of an app, which may contain values of any type.
private struct Options {
    /// The maximum start delay, in seconds: a day.
    private static let longestDelay: Double = 86_400

    private let values: [String: Any]
    private let console: Console

    init(_ values: [String: Any]?, console: Console) {
        self.values = values ?? [:]
        self.console = console
    }

    /// The events that the user is alerted to while the app is suspended.
    var alerts: ConnectionAlerts {
        var alerts: ConnectionAlerts = []
        if bool(CBConnectPeripheralOptionNotifyOnConnectionKey) { alerts.insert(.connection) }
        if bool(CBConnectPeripheralOptionNotifyOnDisconnectionKey) { alerts.insert(.disconnection) }
        if bool(CBConnectPeripheralOptionNotifyOnNotificationKey) { alerts.insert(.notification) }
        return alerts
    }

    func bool(_ key: String) -> Bool { value(key, of: NSNumber.self)?.boolValue ?? false }
    func uuids(_ key: String) -> [BluetoothUUID] { value(key, of: [CBUUID].self)?.map(\.value) ?? [] }

    /// Returns a duration in seconds, from 0 to ``longestDelay``; 0 if the option is missing.
    func seconds(_ key: String) -> Double {
        let seconds = value(key, of: NSNumber.self)?.doubleValue ?? 0
        return seconds > 0 ? min(seconds, Self.longestDelay) : 0
    }

    private func value<Value>(_ key: String, of _: Value.Type) -> Value? {
        guard let given = values[key] else { return nil }
        let value = given as? Value
        if value == nil { console.misuse("The value of the option \(key) is of the wrong type and is ignored") }
        return value
    }
}
