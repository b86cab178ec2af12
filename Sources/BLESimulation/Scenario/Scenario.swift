import BLERuntime
public import FoundationEssentials

/// The description of a world in a file: its devices, and the conditions of the air.
///
/// ```json
/// {
///   "seed": 7,
///   "loss": 0.1,
///   "machines": [
///     {
///       "name": "Heart Rate", "address": "C0:FF:EE:00:00:01", "position": {"x": 2},
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
/// A file can also contain a single element of `machines`. Such a file describes a world with only that device, and
/// `ble serve` acts as the device. <doc:DescribingDevices> lists the keys, and `docs/world.schema.json` describes them
/// for editors. Unknown keys are rejected.
public struct Scenario: Hashable, Sendable {
    /// The seed of all random choices.
    public var seed: UInt64
    /// The conditions of the air.
    public var conditions: World.Conditions
    /// The devices in the world.
    public var peripherals: [SimulatedPeripheral]

    /// Creates a description of a world.
    public init(seed: UInt64 = 1, conditions: World.Conditions = .init(), peripherals: [SimulatedPeripheral]) {
        self.seed = seed
        self.conditions = conditions
        self.peripherals = peripherals
    }

    /// Parses a description.
    ///
    /// - Parameter json: The text of a file.
    /// - Throws: `DecodingError` if it is not JSON, or contains an invalid value.
    public init(json: Data) throws { self = try JSONDecoder().decode(Self.self, from: json) }

    /// The name of the machine that an app uses if `BLUETOOTH_HOST` names the file: "phone", or the first of "phone 2",
    /// "phone 3" and so on that is not the name of a device.
    package var appMachine: String {
        let taken = Set(peripherals.map(\.name))
        var name = World.appMachine, number = 1
        while taken.contains(name) {
            number += 1
            name = "\(World.appMachine) \(number)"
        }
        return name
    }

    /// Creates the described world.
    public func makeWorld() -> World {
        let world = World(seed: seed, conditions: conditions)
        world.withCore { $0.reserveAddresses(of: peripherals) }
        for peripheral in peripherals { world.place(peripheral) }
        return world
    }
}

extension Scenario: Decodable {
    private enum Key: String, CodingKey, CaseIterable {
        case seed, loss, machines
        /// The schema, which only editors use.
        case schema = "$schema"
    }

    /// Decodes the description of a world or of a single device.
    public init(from decoder: any Decoder) throws {
        guard try !Self.isDevice(decoder) else {
            (seed, conditions, peripherals) = (1, World.Conditions(), [try SimulatedPeripheral(from: decoder)])
            return
        }
        try decoder.refuseUnknownKeys(of: "a world", allowing: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        seed = try values.decodeIfPresent(Bounds(UInt64.min...UInt64.max), forKey: .seed) ?? 1
        conditions = World.Conditions(loss: try values.decodeIfPresent(Bounds(0.0...1), forKey: .loss) ?? 0)
        peripherals = try values.decode([SimulatedPeripheral].self, forKey: .machines)
        var names: Set<String> = []
        for peripheral in peripherals where !names.insert(peripheral.name).inserted {
            throw DecodingError.dataCorruptedError(
                forKey: .machines,
                in: values,
                debugDescription: "two machines have the name “\(peripheral.name)”"
            )
        }
        if let (one, other) = peripherals.sharingAddress, let address = one.address {
            throw DecodingError.dataCorruptedError(
                forKey: .machines,
                in: values,
                debugDescription: "“\(one.name)” and “\(other.name)” have the same address, \(address)"
            )
        }
    }
    /// Returns whether the file describes a single device: it has a name or services, and no machines.
    private static func isDevice(_ decoder: any Decoder) throws -> Bool {
        let keys = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        return !keys.contains("machines") && (keys.contains("name") || keys.contains("services"))
    }
}

extension [SimulatedPeripheral] {
    /// The first two devices that have the same address; `nil` if all addresses are different.
    fileprivate var sharingAddress: (SimulatedPeripheral, SimulatedPeripheral)? {
        var owners: [SimulatedPeripheral.Address: SimulatedPeripheral] = [:]
        for device in self {
            guard let address = device.address else { continue }
            if let owner = owners.updateValue(device, forKey: address) { return (owner, device) }
        }
        return nil
    }
}
