import BLEHost
import BLERuntime
import BLESimulation
public import CoreBluetooth
public import Dispatch

/// The alerts for the user about events of suspended apps, where Apple's systems show an alert.
///
/// An app requests them with `CBConnectPeripheralOptionNotifyOnConnectionKey`, `…NotifyOnDisconnectionKey` and
/// `…NotifyOnNotificationKey`. The daemon alerts its user when the app is suspended, stopped or frozen. Of several
/// objects in apps of one user, only the latest gets an alert; without any, it is written to the daemon's log. There
/// are no such alerts without the daemon; in a simulated world, use `Machine.alerts`.
///
///     let alerts = BluetoothAlerts { alert in print(alert.text) }
public final class BluetoothAlerts: Sendable {
    /// An alert for the user.
    public struct Alert: Sendable {
        /// The event of an alert.
        public enum Occasion: Sendable {
            /// A connection was established.
            case connection
            /// A connection was lost.
            case disconnection
            /// The device sent a notification or indication.
            case notification
        }

        /// The event.
        public let occasion: Occasion
        /// The name of the app.
        public let app: String
        /// The identifier of the device.
        public let identifier: UUID
        /// The name of the device; `nil` if the app does not know it.
        public let name: String?
        /// The text of the alert, in English.
        public let text: String
    }

    private let session: any HostSession

    /// Starts to receive alerts, as long as the object is retained.
    ///
    /// - Parameters:
    ///   - queue: The queue for `handler`; `nil` for a private queue.
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
