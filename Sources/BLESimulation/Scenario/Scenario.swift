import BLERuntime
public import FoundationEssentials

/// A world as a file describes it: the devices in it, and what the air is like.
///
/// ```json
/// {
///   "seed": 7,
///   "loss": 0.1,
///   "machines": [
///     {
///       "name": "Heart Rate", "position": {"x": 2},
///       "services": [
///         {"uuid": "180D", "characteristics": [
///           {"uuid": "2A37", "properties": ["notify"], "notify": {"every": 1000, "values": ["0048", "004b"]}},
///           {"uuid": "2A38", "properties": ["read"], "value": "01"}
///         ]},
///         {"uuid": "180A", "advertised": false, "characteristics": [
///           {"uuid": "2A29", "properties": ["read"], "text": "Example"}
///         ]}
///       ]
///     }
///   ]
/// }
/// ```
///
/// What stands in `machines` may also stand by itself: a file with a device is a world with it alone, and `ble serve`
/// is that device. <doc:DescribingDevices> lists the keys, `docs/world.schema.json` tells them to editors, and any
/// other key is refused.
public struct Scenario: Hashable, Sendable {
    /// What random choices follow from.
    public var seed: UInt64
    /// What the air is like.
    public var conditions: World.Conditions
    /// What is in the world.
    public var peripherals: [SimulatedPeripheral]

    /// Creates a description of a world.
    public init(seed: UInt64 = 1, conditions: World.Conditions = .init(), peripherals: [SimulatedPeripheral]) {
        self.seed = seed
        self.conditions = conditions
        self.peripherals = peripherals
    }

    /// Reads a description.
    ///
    /// - Parameter json: The text of a file.
    /// - Throws: `DecodingError` if it is no JSON, or if something in it makes no sense.
    public init(json: Data) throws { self = try JSONDecoder().decode(Self.self, from: json) }

    /// What the machine is called on which the app is, with `BLUETOOTH_HOST`: "phone", or the first of "phone 2",
    /// "phone 3" and so on that is the name of no device.
    package var appMachine: String {
        let taken = Set(peripherals.map(\.name))
        var name = World.appMachine, number = 1
        while taken.contains(name) {
            number += 1
            name = "\(World.appMachine) \(number)"
        }
        return name
    }

    /// Makes the world that is described here.
    public func makeWorld() -> World {
        let world = World(seed: seed, conditions: conditions)
        for peripheral in peripherals { world.place(peripheral) }
        return world
    }
}

extension Scenario: Decodable {
    private enum Key: String, CodingKey, CaseIterable {
        case seed, loss, machines
        /// What editors check the file with.
        case schema = "$schema"
    }

    /// Reads a description of a world, or of one device.
    public init(from decoder: any Decoder) throws {
        guard try !Self.isDevice(decoder) else {
            (seed, conditions, peripherals) = (1, World.Conditions(), [try SimulatedPeripheral(from: decoder)])
            return
        }
        try decoder.refuseKeys(of: "a world", but: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        seed = try values.decodeIfPresent(Bounds(UInt64.min...UInt64.max), forKey: .seed) ?? 1
        conditions = World.Conditions(loss: try values.decodeIfPresent(Bounds(0.0...1), forKey: .loss) ?? 0)
        peripherals = try values.decode([SimulatedPeripheral].self, forKey: .machines)
        guard Set(peripherals.map(\.name)).count == peripherals.count else {
            throw DecodingError.dataCorruptedError(
                forKey: .machines,
                in: values,
                debugDescription: "two machines have the same name"
            )
        }
    }
    /// Whether this is a device by itself: what has a name or services, and no machines.
    private static func isDevice(_ decoder: any Decoder) throws -> Bool {
        let keys = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        return !keys.contains("machines") && (keys.contains("name") || keys.contains("services"))
    }
}
