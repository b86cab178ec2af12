import BLERuntime
import BLESimulation
import Foundation
import Testing

/// `docs/world.schema.json`, by which editors check files of worlds, against what reads them.
@Suite("The schema of worlds")
struct SchemaTests {
    private static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/world.schema.json")

    private static func schema() throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: path))
        return try #require(object as? [String: Any])
    }

    /// The part of the schema that is called so; the whole of it if `nil`.
    private static func part(_ name: String?) throws -> [String: Any] {
        guard let name else { return try schema() }
        let parts = try #require(try schema()["$defs"] as? [String: Any])
        return try #require(parts[name] as? [String: Any])
    }

    /// Worlds with a key that there is not, in each kind of object.
    static let cases: [(part: String?, world: String)] = [
        (nil, #"{"machines": [], "zzz": 1}"#),
        ("machine", #"{"machines": [{"name": "a", "zzz": 1}]}"#),
        ("position", #"{"machines": [{"name": "a", "position": {"zzz": 1}}]}"#),
        ("serviceDatum", #"{"machines": [{"name": "a", "serviceData": [{"uuid": "180F", "zzz": 1}]}]}"#),
        ("service", world(#""zzz": 1"#)),
        ("characteristic", world(#""characteristics": [{"uuid": "2A19", "zzz": 1}]"#)),
        ("descriptor", world(#""characteristics": [{"uuid": "2A19", "descriptors": [{"uuid": "2901", "zzz": 1}]}]"#)),
    ]

    /// A world with a device that has a service with this in it.
    private static func world(_ service: String) -> String {
        #"{"machines": [{"name": "a", "services": [{"uuid": "180F", \#(service)}]}]}"#
    }

    @Test("It has just the keys that are read, and lets no others pass", arguments: cases)
    func keys(part: String?, world: String) throws {
        let schema = try Self.part(part)
        let error = #expect(throws: DecodingError.self) { try Scenario(json: Data(world.utf8)) }
        let text = try #require(error).explanation
        let list = try #require(text.split(separator: "there are ").last?.split(separator: ", at ").first)
        let read = Set(list.split(separator: ", ").map(String.init))
        let properties = try #require(schema["properties"] as? [String: Any])
        #expect(text.contains("“zzz” is no key of a world"))
        #expect(Set(properties.keys) == read, "\(text)")
        #expect(schema["additionalProperties"] as? Bool == false)
    }

    @Test("The world in the guide is read, and has no key that the schema lacks")
    func guide() throws {
        let root = Self.path.deletingLastPathComponent().deletingLastPathComponent()
        let article = "Sources/BLESimulation/BLESimulation.docc/DescribingDevices.md"
        let text = try String(contentsOf: root.appending(path: article), encoding: .utf8)
        let block = try #require(text.split(separator: "```").first { $0.hasPrefix("\n{") })
        let scenario = try Scenario(json: Data(block.utf8))
        #expect(scenario.peripherals.map(\.name) == ["Lamp"])
        #expect(scenario.peripherals.first?.services.first?.characteristics.count == 3)
    }
}
