import BLEHost
import BLEWire
import Foundation

extension ScanRequest {
    /// Reads the arguments of a call to scan; values of the wrong type count as absent, and are complained of.
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
    /// Reads the options of a call to connect; values of the wrong type count as absent, and are complained of.
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

/// The options that an app gives, which may hold anything.
private struct Options {
    /// The longest delay that is obeyed, in seconds: a day.
    private static let longestDelay: Double = 86_400

    private let values: [String: Any]
    private let console: Console

    init(_ values: [String: Any]?, console: Console) {
        self.values = values ?? [:]
        self.console = console
    }

    /// What the user is to be told while the app sleeps.
    var alerts: ConnectionAlerts {
        var alerts: ConnectionAlerts = []
        if bool(CBConnectPeripheralOptionNotifyOnConnectionKey) { alerts.insert(.connection) }
        if bool(CBConnectPeripheralOptionNotifyOnDisconnectionKey) { alerts.insert(.disconnection) }
        if bool(CBConnectPeripheralOptionNotifyOnNotificationKey) { alerts.insert(.notification) }
        return alerts
    }

    func bool(_ key: String) -> Bool { value(key, of: NSNumber.self)?.boolValue ?? false }
    func uuids(_ key: String) -> [BluetoothUUID] { value(key, of: [CBUUID].self)?.map(\.value) ?? [] }

    /// A time, zero or more.
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
