import ArgumentParser
import BLESimulation
import Foundation
import Testing

@testable import ble

@Suite("Peripheral descriptions")
struct PeripheralDescriptionTests {
    private func describe(_ json: String, machine: String? = nil) throws -> PeripheralDescription {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
        try Data(json.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try PeripheralDescription(path: file.path, machine: machine)
    }

    private static func remark(_ key: String) -> String {
        "“\(key)” is ignored: it has an effect only in simulated worlds."
    }

    private static let house = #"{"machines": [{"name": "Lamp"}, {"name": "Door", "mtu": 23}]}"#

    @Test("A device is served if it is the file's only device, is alone in its world, or is named")
    func devices() throws {
        let lamp = #"{"name": "Lamp", "services": [{"uuid": "180F"}]}"#
        let alone = try describe(lamp)
        #expect(alone.device.name == "Lamp" && alone.device.services.map(\.uuid) == ["180F"])
        #expect(try describe(#"{"seed": 7, "machines": [\#(lamp)]}"#).device == alone.device)
        #expect(try describe(lamp, machine: "Lamp").device == alone.device)
        #expect(try describe(Self.house, machine: "Door").device.name == "Door")
    }

    @Test("Keys that only count in worlds or that the host publishes by itself are reported")
    func remarks() throws {
        let descriptors = """
            {"uuid": "2908", "value": "01"}, {"uuid": "2904", "value": "04"}, {"uuid": "2901", "value": "ff"}, \
            {"uuid": "2902", "value": "0100"}, {"uuid": "2900", "value": "0100"}
            """
        let characteristic = #"{"uuid": "2A19", "properties": ["read"], "descriptors": [\#(descriptors)]}"#
        let remarks = try describe(Self.service(characteristic)).remarks
        #expect(remarks.map { $0.prefix(23) } == ["2902", "2900"].map { "Descriptor \($0) of 2A19" })
        #expect(try describe(Self.house, machine: "Door").remarks == [Self.remark("mtu")])
        let far = try describe(#"{"name": "x", "position": {"x": 1}}"#)
        #expect(far.remarks == [Self.remark("position")])
        #expect(try describe(#"{"name": "x", "position": {}}"#).remarks.isEmpty)
        #expect(try describe(#"{"name": "x", "pairing": {}}"#).remarks == [Self.remark("pairing")])
    }

    @Test(
        "An error is reported with its position",
        arguments: [
            ("{", "JSON"),
            (#"{"services": []}"#, "“name” is missing"),
            (#"{"name": 1, "services": []}"#, "name"),
            (#"{"name": "x", "services": [{}]}"#, "services[0]"),
            (#"{"name": "x", "services": [{"uuid": "18"}]}"#, "“18” is not a UUID; use 4 or 8 hexadecimal digits"),
            (#"{"name": "x", "services": [{"uuid": "ABDD3 56-28FA-441D-A470-55A75A52553A"}]}"#, "ABDD3 56"),
            (service(#"{"uuid": "ABDD3 56-28FA-441D-A470-55A75A52553A"}"#), "ABDD3 56"),
            (service(#"{"uuid": "{ABDD3456-28FA-441D-A470-55A75A52553A}"}"#), "{ABDD3456"),
            (service(#"{"uuid": "2A19", "properties": ["fly"]}"#), "writeWithoutResponse"),
            (service(#"{"uuid": "2A19", "permissions": ["fly"]}"#), "readEncryptionRequired"),
            (service(#"{"uuid": "2A19", "properties": ["read"], "value": "0x1"}"#), "0x1"),
            (service(#"{"uuid": "2A19", "value": "well"}"#), "for characters, use “text”"),
            (service(#"{"uuid": "2A19", "format": "0x04"}"#), #""uuid": "2904""#),
            (service(#"{"uuid": "2A19", "description": "x"}"#), #""uuid": "2901""#),
            (service(#"{"uuid": "2A19", "ticks": {"every": 1, "values": ["1"]}}"#), #""notify": {"every": 1000"#),
            (#"{"name": "x", "services": [{"uuid": "180F", "includes": ["180A"]}, {"uuid": "180A"}]}"#, "180A"),
            (#"{"name": "x", "services": [{"uuid": "180F", "charateristics": []}]}"#, "“charateristics” is not a key"),
            (house, "“Lamp”, “Door”. Select one with --machine NAME"),
            (#"{"machines": []}"#, "the world has no machines"),
        ]
    )
    func mistakes(json: String, named: String) throws {
        do {
            _ = try describe(json)
            Issue.record("it was accepted")
        } catch let trouble as CommandError {
            #expect(trouble.description.contains(named), "\(trouble)")
            #expect(trouble.exitCode.rawValue == 66)
        }
    }

    @Test("A machine that is not in the world is refused, with the list of machines")
    func stranger() {
        let trouble = #expect(throws: CommandError.self) { try describe(Self.house, machine: "Gate") }
        #expect(trouble?.description.hasSuffix("it has no machine named “Gate”, only “Lamp”, “Door”.") == true)
    }

    private static func service(_ characteristic: String) -> String {
        #"{"name": "x", "services": [{"uuid": "180F", "characteristics": [\#(characteristic)]}]}"#
    }

    @Test("A service can be added from its own file, and removed unless another one includes it")
    func services() throws {
        var description = try describe(#"{"name": "x", "services": [{"uuid": "180A"}]}"#)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(#"{"uuid": "180F", "includes": ["180A"]}"#.utf8).write(to: file)
        #expect(try description.add(path: file.path).uuid == "180F")
        #expect(description.device.services.map(\.uuid) == ["180A", "180F"])

        try Data(#"{"uuid": "1810", "includes": ["1811"]}"#.utf8).write(to: file)
        #expect(throws: CommandError.self) { try description.add(path: file.path) }
        #expect(description.device.services.map(\.uuid) == ["180A", "180F"])

        let included = try #require(UUIDArgument(argument: "180A")).uuid
        let including = try #require(UUIDArgument(argument: "180F")).uuid
        let removed = [included, including, included, included].map { description.remove($0) }
        #expect(removed == [false, true, true, false])
    }

    @Test("A missing file is named in the error")
    func missing() {
        let error = #expect(throws: CommandError.self) { try PeripheralDescription(path: "/nowhere/lamp.json") }
        #expect(error?.description.contains("/nowhere/lamp.json") == true)
    }
}
