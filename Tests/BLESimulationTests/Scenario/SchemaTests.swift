import BLERuntime
import BLESimulation
import Foundation
import Testing

/// `docs/world.schema.json`, by which editors check files of devices and worlds, against what reads them.
@Suite("Schema of devices and worlds")
struct SchemaTests {
    private static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/world.schema.json")

    private static func schema() throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: path))
        return try #require(object as? [String: Any])
    }

    /// The part of the schema that is called so.
    private static func part(_ name: String) throws -> [String: Any] {
        let parts = try #require(try schema()["$defs"] as? [String: Any])
        return try #require(parts[name] as? [String: Any])
    }

    /// Files with a key that there is not, in each kind of object.
    static let cases: [(part: String, file: String)] = [
        ("world", #"{"machines": [], "zzz": 1}"#),
        ("device", #"{"machines": [{"name": "a", "zzz": 1}]}"#),
        ("device", #"{"name": "a", "zzz": 1}"#),
        ("position", #"{"machines": [{"name": "a", "position": {"zzz": 1}}]}"#),
        ("pairing", #"{"machines": [{"name": "a", "pairing": {"zzz": 1}}]}"#),
        ("serviceDatum", #"{"machines": [{"name": "a", "serviceData": [{"uuid": "180F", "zzz": 1}]}]}"#),
        ("service", world(#""zzz": 1"#)),
        ("characteristic", world(#""characteristics": [{"uuid": "2A19", "zzz": 1}]"#)),
        ("notifications", world(#""characteristics": [{"uuid": "2A19", "notify": {"zzz": 1}}]"#)),
        ("answer", world(#""characteristics": [{"uuid": "2A19", "answers": [{"uuid": "2A19", "zzz": 1}]}]"#)),
        ("descriptor", world(#""characteristics": [{"uuid": "2A19", "descriptors": [{"uuid": "2901", "zzz": 1}]}]"#)),
    ]

    /// A world with a device that has a service with this in it.
    private static func world(_ service: String) -> String {
        #"{"machines": [{"name": "a", "services": [{"uuid": "180F", \#(service)}]}]}"#
    }

    @Test("The schema has exactly the keys that are read, and allows no others", arguments: cases)
    func keys(part: String, file: String) throws {
        let schema = try Self.part(part)
        let error = #expect(throws: DecodingError.self) { try Scenario(json: Data(file.utf8)) }
        let text = try #require(error).explanation
        let list = try #require(text.split(separator: "use one of ").last?.split(separator: " (at ").first)
        let read = Set(list.split(separator: ", ").map(String.init))
        let properties = try #require(schema["properties"] as? [String: Any])
        #expect(text.contains("“zzz” is not a key of "))
        #expect(Set(properties.keys) == read, "\(text)")
        #expect(schema["additionalProperties"] as? Bool == false)
    }

    /// Names that there are, where the schema lists them.
    private static let lists: [(part: String, path: [String], names: [String])] = [
        ("characteristic", ["properties", "items"], SimulatedPeripheral.Property.allCases.map(\.rawValue)),
        ("characteristic", ["permissions", "items"], SimulatedPeripheral.Permission.allCases.map(\.rawValue)),
        ("device", ["addressType"], SimulatedPeripheral.Address.Kind.allCases.map(\.rawValue)),
        ("device", ["latency"], SimulatedPeripheral.Latency.allCases.map(\.rawValue)),
        ("pairing", ["capability"], SimulatedPeripheral.Pairing.Capability.allCases.map(\.rawValue)),
    ]

    @Test("The schema lists exactly the values that are read", arguments: lists.indices)
    func listed(index: Int) throws {
        let (name, path, names) = Self.lists[index]
        var part = try Self.part(name)
        for key in ["properties"] + path { part = try #require(part[key] as? [String: Any]) }
        #expect(part["enum"] as? [String] == names)
    }

    @Test("A file is a world if it has machines, and otherwise a device")
    func kinds() throws {
        let schema = try Self.schema()
        #expect((schema["if"] as? [String: [String]]) == ["required": ["machines"]])
        #expect((schema["then"] as? [String: String]) == ["$ref": "#/$defs/world"])
        #expect((schema["else"] as? [String: String]) == ["$ref": "#/$defs/device"])
    }

    @Test("The guide's device and world can be read, and the guide explains every key of the schema")
    func guide() throws {
        let root = Self.path.deletingLastPathComponent().deletingLastPathComponent()
        let article = "Sources/BLESimulation/BLESimulation.docc/DescribingDevices.md"
        let text = try String(contentsOf: root.appending(path: article), encoding: .utf8)
        let blocks = text.split(separator: "```").filter { $0.hasPrefix("\n{") }
        try #require(blocks.count == 2)
        let (lamp, house) = (try Scenario(json: Data(blocks[0].utf8)), try Scenario(json: Data(blocks[1].utf8)))
        #expect(lamp.peripherals.first?.services.first?.characteristics.count == 3)
        #expect(house.peripherals.map(\.name) == ["Lamp", "Door"])
        for part in ["world", "device", "pairing", "service", "characteristic"] {
            let properties = try #require(try Self.part(part)["properties"] as? [String: Any])
            let untold = properties.keys.filter { !text.contains("`\($0)`") && $0 != "$schema" }
            #expect(untold.isEmpty, "\(part)")
        }
    }
}
