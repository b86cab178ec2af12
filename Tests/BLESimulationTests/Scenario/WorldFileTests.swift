import BLEHost
import BLERuntime
import BLESimulation
import FoundationEssentials
import Testing

@Suite("World files")
struct WorldFileTests {
    private static let text = """
        {
          "seed": 7,
          "machines": [
            {"name": "Lamp", "services": [
              {"uuid": "FFE0", "characteristics": [
                {"uuid": "FFE1", "properties": ["read"],
                 "KEY": "00"}
              ]}
            ]}
          ]
        }
        """

    @Test(
        "An unknown key is refused by name, with its line and what to write instead",
        arguments: [
            ("valeu", "use one of "), ("ticks", #""notify""#), ("description", "2901"), ("format", "2904"),
            ("seed", #""machines""#),
        ]
    )
    func unknown(key: String, hint: String) throws {
        let data = Data(Self.text.replacing("KEY", with: key).utf8)
        let error = try #require(#expect(throws: DecodingError.self) { try Scenario(json: data) })
        #expect(error.explanation.contains("“\(key)”") && error.explanation.contains(hint), "\(error.explanation)")
        #expect(error.place(in: "x.json", data) == "x.json:7")
    }

    @Test("The same file with a known key is read")
    func known() throws {
        let scenario = try Scenario(json: Data(Self.text.replacing("KEY", with: "value").utf8))
        #expect(scenario.peripherals.first?.services.first?.characteristics.first?.value == [0])
    }

    @Test("A device without an address gets one that no other device of the file names")
    func computedAddress() async throws {
        let text = #"""
            {"seed": 1, "machines": [
              {"name": "A"}, {"name": "B", "address": "90:EF:1D:D3:00:00", "addressType": "public"}
            ]}
            """#
        let world = try Scenario(json: Data(text.utf8)).makeWorld(), app = SeamApp()
        app.start(.central, on: world.machine("phone"))
        await world.advance(by: .seconds(1))
        app.send(.scan(ScanRequest()))
        await world.advance(by: .seconds(5))
        let names = app.events.compactMap { event in
            if case .discovered(let report) = event { report.name } else { nil }
        }
        #expect(Set(names) == ["A", "B"])
    }

    @Test("A single device is a world with only that device")
    func device() throws {
        let device = #"{"$schema": "world.schema.json", "name": "Lamp", "services": [{"uuid": "180F"}], "mtu": 23}"#
        let alone = try Scenario(json: Data(device.utf8))
        #expect(alone == (try Scenario(json: Data(#"{"machines": [\#(device)]}"#.utf8))))
        #expect(alone.peripherals.map(\.name) == ["Lamp"])
    }

    @Test(
        "An error in a single device is reported as in a world",
        arguments: [
            (#"{"services": []}"#, "“name” is missing"), (#"{"name": "x", "seed": 7}"#, #""machines": […]"#),
            (#"{"seed": 7}"#, "“machines” is missing"), (#"{"name": "x", "services": [{}]}"#, "at services[0]"),
        ]
    )
    func deviceMistakes(text: String, hint: String) throws {
        let error = try #require(#expect(throws: DecodingError.self) { try Scenario(json: Data(text.utf8)) })
        #expect(error.explanation.contains(hint), "\(error.explanation)")
    }

    @Test("The pairing of a device is read")
    func pairing() throws {
        let text = #"{"name": "x", "pairing": {"capability": "yes-no", "passkey": 4711, "refused": true}}"#
        let device = try #require(try Scenario(json: Data(text.utf8)).peripherals.first)
        #expect(device.pairing == .init(.yesNo, passkey: 4_711, isRefused: true))
        let plain = try #require(try Scenario(json: Data(#"{"name": "x", "pairing": {}}"#.utf8)).peripherals.first)
        #expect(plain.pairing == .init(.none))
    }

    @Test(
        "An error in the pairing of a device is reported",
        arguments: [
            (#"{"capability": "mouse"}"#, "keyboard-display"), (#"{"passkey": 1000000}"#, "999999"),
            (#"{"passkey": "123456"}"#, "pairing.passkey"),
        ]
    )
    func pairingMistakes(pairing: String, hint: String) throws {
        let text = #"{"name": "x", "pairing": \#(pairing)}"#
        let error = try #require(#expect(throws: DecodingError.self) { try Scenario(json: Data(text.utf8)) })
        #expect(error.explanation.contains(hint), "\(error.explanation)")
        var device = SimulatedPeripheral(name: "x", services: [])
        device.pairing = .init(.display, passkey: 1_000_000)
        #expect(throws: SimulatedPeripheral.DescriptionError.self) { try device.validate() }
    }

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int?
        init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
        init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
    }

    @Test(
        "Lines are found in any text, even truncated",
        arguments: [
            ("{\n\"a\": [1,\n {\"b\":\n 2}]}", ["a", "1", "b"], 4), ("{\n\"x\": \"}\\\"\", \n\"a\": 1}", ["a"], 3),
            ("[[[[[\n", ["4"], 1), ("{\"a\"", ["a"], 1), ("", ["a"], 1), ("[{\"q\": {}},\n5]", ["1"], 2),
            ("{\"x\": \"y\\\",\\\"a\\\":0\",\n\"a\": 1}", ["a"], 2),
        ]
    )
    func lines(text: String, path: [String], line: Int) {
        let keys = path.map { Int($0).map(Key.init(intValue:)) ?? Key(stringValue: $0) }
        #expect(JSONLocation.line(of: keys, in: text.utf8) == line)
    }

    @Test(
        "A file that is not JSON is reported with the line where it becomes invalid",
        arguments: [
            ("", 1), ("{", 1), ("{\n\n", 3), ("{\n \"name\": \"A\",\n}", 3), ("{\"name\": \"A\"\n\"at\": 1}", 2),
            ("{\"name\":\n \"A\nB\"}", 2), ("{\"name\": \"A\"}\n}", 2), ("{\"name\":\ntrou}", 2), ("[1,\n2,\n01]", 3),
            ("{\"services\": [\n{\"uuid\": \"180F\"},\n]}", 3), ("{\n// no comment\n}", 2), ("{\n'name': 1}", 2),
            ("[\"\\q\"]", 1), ("[1 2]", 1), ("{\"a\" 1}", 1), ("[-]", 1), ("[1.]", 1), ("{\"a\": }", 1),
        ]
    )
    func mistake(text: String, line: Int) throws {
        let error = try #require(#expect(throws: DecodingError.self) { try Scenario(json: Data("[".utf8)) })
        #expect(error.place(in: "world.json", text.utf8) == "world.json:\(line)")
        #expect(error.explanation == "it is not valid JSON")
    }

    @Test(
        "Valid JSON is never reported as invalid",
        arguments: [
            "{}", "[]", "0", "-0.5e+10", "true", "null", "\"\\u00e9\\n\"", "[[], {}, [1, 2]]",
            "{\"a\": {\"b\": [\"c\"]}}\n",
        ]
    )
    func correct(text: String) {
        let error = DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "something else"))
        #expect(error.place(in: "world.json", text.utf8) == "world.json")
        #expect(error.explanation.contains("something else"))
    }
}
