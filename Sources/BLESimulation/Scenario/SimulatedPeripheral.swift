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
    /// What an advertisement says of a service.
    public struct ServiceDatum: Hashable, Sendable {
        /// The type of the service.
        public var service: String
        /// What it says.
        public var value: [UInt8]

        /// Creates it.
        public init(_ service: String, _ value: [UInt8]) {
            self.service = service
            self.value = value
        }
    }

    /// A trade between delay and energy that the device asks each central for.
    public enum Latency: String, Hashable, Sendable, Codable, CaseIterable {
        /// Answers soon.
        case low
        /// Between the two.
        case medium
        /// Saves energy.
        case high
    }

    /// A service of a simulated peripheral.
    public struct Service: Hashable, Sendable {
        /// Its type, in one of the forms that `CBUUID` takes.
        public var uuid: String
        /// Whether advertisements name it.
        public var isAdvertised: Bool
        /// Its characteristics.
        public var characteristics: [Characteristic]
        /// Whether it is of use by itself, and not as a part of others alone; only such services are advertised.
        public var isPrimary: Bool
        /// The types of services before this one that are parts of it.
        public var includes: [String]

        /// Creates a service.
        public init(
            _ uuid: String,
            _ characteristics: [Characteristic],
            isAdvertised: Bool = true,
            isPrimary: Bool = true,
            includes: [String] = []
        ) {
            self.uuid = uuid
            self.isAdvertised = isAdvertised
            self.characteristics = characteristics
            self.isPrimary = isPrimary
            self.includes = includes
        }
    }

    /// What it calls itself; the name of its machine as well.
    public var name: String
    /// Where it is.
    public var position: World.Position
    /// What it offers.
    public var services: [Service]
    /// What it advertises of its maker: the two octets of the company identifier, the lesser first, and what follows.
    public var manufacturerData: [UInt8]?
    /// What it advertises of services.
    public var serviceData: [ServiceDatum] = []
    /// How strong it says that it sends, in dBm.
    public var transmitPower: Int8?
    /// Whether it advertises its name.
    public var advertisesName = true
    /// The flags at the beginning of its advertisement; none if `nil`.
    ///
    /// Core Specification Supplement 11, Part A, 1.3.
    public var flags: UInt8? = Self.usualFlags
    /// The octets of its advertisement, if it is to be sent as it is.
    ///
    /// If this or ``scanResponse`` is set, the two are all that is advertised; one that is `nil` is empty. The
    /// properties for single fields keep their defaults then: ``manufacturerData``, ``serviceData``, ``transmitPower``,
    /// ``advertisesName`` and ``flags``.
    public var advertisement: [UInt8]?
    /// The octets of its scan response, if they are to be sent as they are.
    public var scanResponse: [UInt8]?
    /// Whether it uses extended advertising: one packet of up to 245 octets, or of up to 1 650 if centrals may not
    /// connect; instead of an advertisement and a scan response of 31 octets each.
    public var isExtended = false
    /// Whether centrals may connect to it.
    public var isConnectable = true
    /// What it asks centrals for.
    public var latency: Latency?
    /// The largest ATT packet that it takes, in octets, 23 to 517; as large as can be if `nil`.
    public var mtu: Int?

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
