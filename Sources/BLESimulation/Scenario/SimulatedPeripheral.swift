import BLEWire

/// A device without an app: services, values, and what it notifies when.
///
/// It advertises from the moment that it is placed in a ``World``, answers reads with its values, keeps what is
/// written, and sends it on to those that subscribed. It is a whole machine with a real host; only what an app would do
/// is this description.
///
/// ```swift
/// let sensor = SimulatedPeripheral(
///     name: "Heart Rate",
///     services: [
///         .init("180D", [.init("2A37", [.notify], notifies: .init(every: .seconds(1), [[0, 72], [0, 75]]))])
///     ]
/// )
/// ```
public struct SimulatedPeripheral: Hashable, Sendable {
    /// What a central can do with a characteristic.
    public enum Property: String, Hashable, Sendable, Codable {
        /// Read its value.
        case read
        /// Write its value and hear that it was taken.
        case write
        /// Write its value and hear nothing.
        case writeWithoutResponse
        /// Be sent its value as it changes.
        case notify
        /// Be sent its value as it changes, and confirm that.
        case indicate
    }

    /// What a characteristic sends by itself while a central is subscribed.
    public struct Notifications: Hashable, Sendable {
        /// The time from one value to the next; a millisecond at least.
        public var interval: Duration
        /// The values, one after the other and again from the beginning.
        public var values: [[UInt8]]

        /// Creates a cycle of values, of which the first comes one `interval` after the subscription.
        public init(every interval: Duration, _ values: [[UInt8]]) {
            self.interval = interval
            self.values = values
        }
    }

    /// A characteristic of a simulated peripheral.
    public struct Characteristic: Hashable, Sendable {
        /// Its type, in one of the forms that `CBUUID` takes.
        public var uuid: String
        /// What can be done with it.
        public var properties: [Property]
        /// Its value at the beginning; 512 octets at most.
        public var value: [UInt8]
        /// What it sends by itself, if anything.
        public var notifications: Notifications?

        /// Creates a characteristic.
        public init(
            _ uuid: String,
            _ properties: [Property],
            value: [UInt8] = [],
            notifies notifications: Notifications? = nil
        ) {
            self.uuid = uuid
            self.properties = properties
            self.value = value
            self.notifications = notifications
        }
    }

    /// A service of a simulated peripheral.
    public struct Service: Hashable, Sendable {
        /// Its type, in one of the forms that `CBUUID` takes.
        public var uuid: String
        /// Whether advertisements name it.
        public var isAdvertised: Bool
        /// Its characteristics.
        public var characteristics: [Characteristic]

        /// Creates a primary service.
        public init(_ uuid: String, _ characteristics: [Characteristic], isAdvertised: Bool = true) {
            self.uuid = uuid
            self.isAdvertised = isAdvertised
            self.characteristics = characteristics
        }
    }

    /// What it calls itself; the name of its machine as well.
    public var name: String
    /// Where it is.
    public var position: World.Position
    /// What it offers.
    public var services: [Service]

    /// Creates a description of a device.
    ///
    /// - Precondition: Every UUID is one.
    public init(name: String, at position: World.Position = .init(), services: [Service]) {
        for uuid in services.flatMap({ [$0.uuid] + $0.characteristics.map(\.uuid) }) {
            precondition(BluetoothUUID(uuid) != nil, "\(uuid) is no UUID")
        }
        self.name = name
        self.position = position
        self.services = services
    }
}
