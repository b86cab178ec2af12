import BLEHost
import BLERuntime
import BLESimulation
public import CoreBluetooth
public import Dispatch

/// A receiver of alerts, which tell the user about Bluetooth events that a suspended app misses.
///
/// Apple's systems show such alerts themselves.
///
/// An app requests alerts with `CBConnectPeripheralOptionNotifyOnConnectionKey`, `…NotifyOnDisconnectionKey` and
/// `…NotifyOnNotificationKey`. The daemon sends an alert if the app is suspended, stopped or frozen. If the apps of one
/// user have several objects of this type, only the latest receives the alerts. If they have none, the daemon writes
/// the alerts to its log. There are no such alerts without the daemon; in a simulated world, use `Machine.alerts`.
///
///     let alerts = BluetoothAlerts { alert in print(alert.text) }
public final class BluetoothAlerts: Sendable {
    /// An alert for the user.
    public struct Alert: Sendable {
        /// The event that an alert is about.
        public enum Occasion: Sendable {
            /// A connection was established.
            case connection
            /// A connection was lost.
            case disconnection
            /// The device sent a notification or indication.
            case notification
        }

        /// The event that the alert is about.
        public let occasion: Occasion
        /// The name of the app.
        public let app: String
        /// The identifier of the device.
        public let identifier: UUID
        /// The name of the device; `nil` if the app does not know it.
        public let name: String?
        /// The English sentence that tells the user about the event.
        public let text: String
    }

    private let session: any HostSession

    /// Creates an object that receives alerts as long as it is retained.
    ///
    /// - Parameters:
    ///   - queue: The queue for `handler`; `nil` for a private queue.
    ///   - handler: A closure that shows an alert to the user.
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
