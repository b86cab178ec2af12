import BLERuntime

extension Machine {
    /// An alert that the system shows for a suspended app, or before an app may use Bluetooth.
    public struct Alert: Hashable, Sendable, CustomStringConvertible {
        /// The reason for an alert.
        public enum Occasion: Hashable, Sendable {
            /// A connection was established (`CBConnectPeripheralOptionNotifyOnConnectionKey`).
            case connection
            /// A connection was lost (`CBConnectPeripheralOptionNotifyOnDisconnectionKey`).
            case disconnection
            /// A value arrived (`CBConnectPeripheralOptionNotifyOnNotificationKey`).
            case notification
            /// The app wants to use Bluetooth, and the user has not decided yet.
            case authorization
        }

        /// The reason for the alert.
        public let occasion: Occasion
        /// The name of the app.
        public let app: String
        /// The sentence that the user sees.
        ///
        /// Its wording is not Apple's.
        public let text: String
        /// The age of the world when the alert was shown.
        public let time: Duration

        /// The same as ``text``.
        public var description: String { text }
    }

    /// The alerts that the user of the machine has seen, oldest first; at most the latest 1024.
    ///
    /// All of them are about suspended apps, except those of ``Alert/Occasion/authorization``. An app is suspended if
    /// it has been sent to the background without declaring the background mode for its manager's role.
    public var alerts: [Alert] { world.core.withLock { $0.stations[index].alerts } }
}
