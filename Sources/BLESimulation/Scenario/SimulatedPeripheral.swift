import BLEWire

/// The description of a device that needs no app: its services, values and notifications.
///
/// The device advertises as soon as it is placed in a ``World``. It answers reads with its values, stores written
/// values, and sends them to subscribers. It is a complete machine with a real host; only the app is replaced by this
/// description.
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
    /// Service data in an advertisement.
    public struct ServiceDatum: Hashable, Sendable {
        /// The type of the service.
        public var service: String
        /// The data that is advertised for the service.
        public var value: [UInt8]

        /// Creates service data.
        public init(_ service: String, _ value: [UInt8]) {
            self.service = service
            self.value = value
        }
    }

    /// The connection latency that the device requests from each central.
    public enum Latency: String, Hashable, Sendable, Codable, CaseIterable {
        /// Low latency, which uses the most energy.
        case low
        /// Medium latency, a compromise between speed and energy.
        case medium
        /// High latency, which saves energy.
        case high
    }

    /// A service of a simulated peripheral.
    public struct Service: Hashable, Sendable {
        /// The type, in one of the forms of `CBUUID`.
        public var uuid: String
        /// True if the service is advertised.
        public var isAdvertised: Bool
        /// The characteristics of the service.
        public var characteristics: [Characteristic]
        /// True if the service is a primary service; `false` if it exists only to be included in other services.
        ///
        /// Only primary services are advertised.
        public var isPrimary: Bool
        /// The types of included services, which must be listed before this service.
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

    /// The name of the device, which is also the name of its machine.
    public var name: String
    /// The position of the device in the world.
    public var position: World.Position
    /// The device address; `nil` for a public address that follows from the name and the seed of the world.
    ///
    /// No two machines in a world have the same address.
    public var address: Address?
    /// The services that the device offers.
    public var services: [Service]
    /// The advertised manufacturer data: the two octets of the company identifier, least significant first, and the
    /// data; `nil` to advertise none.
    public var manufacturerData: [UInt8]?
    /// The advertised service data.
    public var serviceData: [ServiceDatum] = []
    /// The advertised transmit power, in dBm; `nil` to advertise none.
    public var transmitPower: Int8?
    /// True if the device advertises its name.
    public var advertisesName = true
    /// The flags at the beginning of the advertisement; `nil` for no flags.
    ///
    /// Core Specification Supplement 11, Part A, 1.3.
    public var flags: UInt8? = Self.usualFlags
    /// The octets of the advertisement, sent exactly as given; `nil` to assemble the advertisement from the other
    /// properties.
    ///
    /// If this or ``scanResponse`` is set, nothing else is advertised; if only one of the two is set, the other is
    /// empty. In both cases, the properties for single fields must keep their defaults: ``manufacturerData``,
    /// ``serviceData``, ``transmitPower``, ``advertisesName`` and ``flags``.
    public var advertisement: [UInt8]?
    /// The octets of the scan response, sent exactly as given; see ``advertisement``.
    public var scanResponse: [UInt8]?
    /// True if the device uses extended advertising: one packet of up to 245 octets, or up to 1650 octets if centrals
    /// cannot connect.
    ///
    /// Otherwise, it sends an advertisement and a scan response of up to 31 octets each.
    public var isExtended = false
    /// True if centrals can connect.
    public var isConnectable = true
    /// The connection latency that the device requests; `nil` to request none.
    public var latency: Latency?
    /// The MTU that the device offers, in octets, 23 to 517; `nil` for the maximum.
    public var mtu: Int?
    /// How the device and its user take part in pairing.
    ///
    /// If it is `nil`, a device with protected values pairs without asking its user (Just Works), and a device without
    /// protected values refuses to pair.
    public var pairing: Pairing?

    /// The advertising interval, 20 ms to 10.24 s; `nil` for the interval that the host uses for apps.
    package var advertisingInterval: Duration?

    /// Creates a description of a device.
    ///
    /// - Precondition: The UUIDs of all services and characteristics are valid.
    public init(name: String, at position: World.Position = .init(), services: [Service]) {
        for uuid in services.flatMap({ [$0.uuid] + $0.characteristics.map(\.uuid) }) {
            precondition(BluetoothUUID(uuid) != nil, "“\(uuid)” must be a UUID, such as 180D")
        }
        self.name = name
        self.position = position
        self.services = services
    }
}
