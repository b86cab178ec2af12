import BLERuntime

extension Machine {
    /// What the system shows the user in the place of an app that sleeps, or before an app may do something.
    public struct Alert: Hashable, Sendable, CustomStringConvertible {
        /// What an alert is about.
        public enum Occasion: Hashable, Sendable {
            /// A connection was made, as `CBConnectPeripheralOptionNotifyOnConnectionKey` wants it told.
            case connection
            /// A connection was lost, as `CBConnectPeripheralOptionNotifyOnDisconnectionKey` wants it told.
            case disconnection
            /// A value came, as `CBConnectPeripheralOptionNotifyOnNotificationKey` wants it told.
            case notification
            /// The app wants to use Bluetooth, and nobody has said yet whether it may.
            case authorization
        }

        /// What it is about.
        public let occasion: Occasion
        /// The name of the app.
        public let app: String
        /// What it says, in words of our own.
        public let text: String
        /// How old the world was.
        public let time: Duration

        /// What the alert says.
        public var description: String { text }
    }

    /// The alerts that the user of the machine has seen, the oldest first; of very many the latest 1024.
    ///
    /// An app sleeps that was sent to the background without the mode for the role of its manager.
    public var alerts: [Alert] { world.core.withLock { $0.stations[index].alerts } }
}
