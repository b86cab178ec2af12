import BLEHost
import BLERuntime
import BLESimulation
public import CoreBluetooth
public import Dispatch

/// Shows the user what apps that sleep do not hear, where Apple's systems show an alert.
///
/// An app asks for it with `CBConnectPeripheralOptionNotifyOnConnectionKey`, `…NotifyOnDisconnectionKey` and
/// `…NotifyOnNotificationKey`; the daemon that it shares a radio through alerts its user when the app is suspended,
/// stopped or frozen. Of several objects of apps of one user, the latest hears of an alert, and no other; the log of
/// the daemon has it if there is none. An app that has a radio for itself has no such alerts, nor has a simulated
/// world: `Machine.alerts` has them there.
///
///     let alerts = BluetoothAlerts { alert in print(alert.text) }
public final class BluetoothAlerts: Sendable {
    /// What the user is told.
    public struct Alert: Sendable {
        /// What has happened.
        public enum Occasion: Sendable {
            /// A connection was made.
            case connection
            /// A connection was lost.
            case disconnection
            /// The device sent a value by itself.
            case notification
        }

        /// What has happened.
        public let occasion: Occasion
        /// What the app is called.
        public let app: String
        /// The identifier of the device.
        public let identifier: UUID
        /// What the device is called; `nil` if the app does not know.
        public let name: String?
        /// The sentence that says so, in English.
        public let text: String
    }

    private let session: any HostSession

    /// Begins to show alerts, and does so for as long as the object is there.
    ///
    /// - Parameters:
    ///   - queue: Where `handler` is called; a queue of its own if `nil`.
    ///   - handler: Shows an alert.
    public init(queue: DispatchQueue? = nil, handler: @escaping @Sendable (Alert) -> Void) {
        let queue = DispatchQueue(label: "CoreBluetooth.alerts", target: queue)
        session = DefaultLink.current.open(.agent, on: queue) { event in
            if case .alert(let alert) = event { handler(Alert(alert)) }
        }
        session.send(.showAlerts)
    }

    deinit { session.close() }
}

extension BluetoothAlerts.Alert {
    fileprivate init(_ alert: ClientAlert) {
        self.init(
            occasion: Occasion(alert.occasion),
            app: alert.app,
            identifier: UUID(alert.peer),
            name: alert.name,
            text: alert.text
        )
    }
}

extension BluetoothAlerts.Alert.Occasion {
    fileprivate init(_ occasion: ClientAlert.Occasion) {
        switch occasion {
        case .connection: self = .connection
        case .disconnection: self = .disconnection
        case .notification: self = .notification
        }
    }
}
