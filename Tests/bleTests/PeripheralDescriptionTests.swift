import ArgumentParser
import Foundation
import Testing

@testable import ble

@Suite("Descriptions of peripherals")
struct PeripheralDescriptionTests {
    private func describe(_ json: String) throws -> PeripheralDescription {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
        try Data(json.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try PeripheralDescription(path: file.path)
    }

    @Test("A description is read with what it leaves out")
    func complete() throws {
        let description = try describe(
            """
            {"name": "Lamp", "services": [{"uuid": "180F", "characteristics": [
              {"uuid": "2A19", "properties": ["read", "notify"], "value": "0x64",
               "ticks": {"every": 1, "values": ["0x63"]}}]}]}
            """
        )
        #expect(description.name == "Lamp")
        #expect(description.services[0].primary == nil)
        #expect(description.services[0].characteristics?[0].ticks?.values.map(\.octets) == [Data([0x63])])
    }

    @Test(
        "What is wrong is named, with its place",
        arguments: [
            ("{", "JSON"),
            (#"{"services": []}"#, "name"),
            (#"{"name": 1, "services": []}"#, "name"),
            (#"{"name": "x", "services": [{}]}"#, "services[0]"),
            (#"{"name": "x", "services": [{"uuid": "18"}]}"#, "18"),
            (#"{"name": "x", "services": [{"uuid": "ABDD3 56-28FA-441D-A470-55A75A52553A"}]}"#, "ABDD3 56"),
            (service(#"{"uuid": "ABDD3 56-28FA-441D-A470-55A75A52553A", "properties": []}"#), "ABDD3 56"),
            (service(#"{"uuid": "{ABDD3456-28FA-441D-A470-55A75A52553A}", "properties": []}"#), "{ABDD3456"),
            (service(#"{"uuid": "2A19", "properties": ["fly"]}"#), "writeWithoutResponse"),
            (service(#"{"uuid": "2A19", "properties": ["read"], "value": "0x1"}"#), "0x1"),
            (service(#"{"uuid": "2A19", "properties": [], "format": "0x04"}"#), "seven"),
            (#"{"name": "x", "services": [{"uuid": "180F", "includes": ["180A"]}, {"uuid": "180A"}]}"#, "180A"),
            (service(#"{"uuid": "2A19", "properties": [], "ticks": {"every": 0, "values": ["1"]}}"#), "every"),
            (service(#"{"uuid": "2A19", "properties": [], "ticks": {"every": 1, "values": []}}"#), "values"),
        ]
    )
    func mistakes(json: String, named: String) throws {
        do {
            _ = try describe(json)
            Issue.record("it was accepted")
        } catch let trouble as Trouble {
            #expect(trouble.description.contains(named))
            #expect(trouble.exitCode.rawValue == 66)
        }
    }

    @Test(
        "A period that is huge, tiny, negative or no number is refused with its keys and what is expected",
        arguments: [
            "0", "0.009", "-1", "1e10", "1e30", "1e300", "1e999", "99999999999999999999", #""1""#, "[]", "true",
        ]
    )
    func periods(every: String) {
        let ticks = #"{"uuid": "2A19", "properties": [], "ticks": {"every": \#(every), "values": ["1"]}}"#
        let trouble = #expect(throws: Trouble.self) { try describe(Self.service(ticks)) }
        let expected = "a number of seconds from 0.01 to 31536000 is expected"
        let place = "services[0].characteristics[0].ticks.every"
        #expect(trouble?.description.hasSuffix(" cannot be used: \(expected), at \(place)") == true)
    }

    @Test(
        "A value of more than 512 octets is refused with its key and the limit, wherever it is",
        arguments: [
            (#""value": "%""#, "value"), (#""description": "%""#, "description"),
            (#""ticks": {"every": 1, "values": ["1", "%"]}"#, "ticks.values[1]"),
        ]
    )
    func lengths(field: String, key: String) throws {
        func read(octets: Int) throws -> PeripheralDescription {
            let value = String(repeating: "x", count: octets)
            let field = field.replacingOccurrences(of: "%", with: value)
            return try describe(Self.service(#"{"uuid": "2A19", "properties": [], \#(field)}"#))
        }
        #expect(throws: Never.self) { try read(octets: 512) }
        let trouble = #expect(throws: Trouble.self) { try read(octets: 513) }
        #expect(trouble?.description.contains(key) == true)
        #expect(trouble?.description.contains("512 octets") == true)
    }

    private static func service(_ characteristic: String) -> String {
        #"{"name": "x", "services": [{"uuid": "180F", "characteristics": [\#(characteristic)]}]}"#
    }

    @Test("A service is added from a file of its own, and removed unless another includes it")
    func services() throws {
        var description = try describe(#"{"name": "x", "services": [{"uuid": "180A"}]}"#)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(#"{"uuid": "180F", "includes": ["180A"]}"#.utf8).write(to: file)
        #expect(try description.add(path: file.path).uuid == "180F")
        #expect(description.services.map(\.uuid) == ["180A", "180F"])

        try Data(#"{"uuid": "1810", "includes": ["1811"]}"#.utf8).write(to: file)
        #expect(throws: Trouble.self) { try description.add(path: file.path) }
        #expect(description.services.map(\.uuid) == ["180A", "180F"])

        let included = try #require(UUIDArgument(argument: "180A")).uuid
        let including = try #require(UUIDArgument(argument: "180F")).uuid
        let removed = [included, including, included, included].map { description.remove($0) }
        #expect(removed == [false, true, true, false])
    }

    @Test("A file that is not there is named")
    func missing() {
        let error = #expect(throws: Trouble.self) { try PeripheralDescription(path: "/nowhere/lamp.json") }
        #expect(error?.description.contains("/nowhere/lamp.json") == true)
    }
}
