import BLERuntime
public import FoundationEssentials

/// A world as a file describes it: what is in it, and what the air is like.
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
/// | key | meaning | if it is missing |
/// | --- | --- | --- |
/// | `seed` | what random choices follow from | 1 |
/// | `loss` | share of packets lost, 0 to 1 | 0 |
/// | `position` | `x`, `y` and `z` in metres, up to 1000 km | the middle, where the app is |
/// | `advertised` | whether advertisements name the service | `true` |
/// | `value`, `text` | the first value, as hexadecimal digits or as characters; 512 octets at most | empty |
/// | `notify.every` | milliseconds between values, 1 to those of a day | – |
/// | `primary`, `includes` | as in ``SimulatedPeripheral/Service`` | `true`, none |
/// | `descriptors` | list of `uuid` with `value` or `text` | none |
/// | `protected` | whether only paired devices use the characteristic | `false` |
/// | `manufacturerData`, `serviceData`, `transmitPower`, `connectable` | what is advertised | nothing, `true` |
/// | `latency`, `mtu` | `low`, `medium` or `high`; 23 to 517 octets | none, 517 |
///
/// Any other key is refused. `docs/world.schema.json` says the same to editors.
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

    /// Reads a description.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(but: Key.self)
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
}
