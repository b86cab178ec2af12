import CoreBluetooth
import Foundation
import Testing

@testable import ble

@Suite("Commands of sessions")
struct SessionCommandTests {
    static let valid = [
        #"{"command": "scan"}"#, #"{"id": 1, "command": "stop"}"#,
        #"{"command": "scan", "services": ["180D", "Battery"], "name": "La", "min_rssi": -60, "duplicates": true}"#,
        #"{"id": "a", "command": "connect", "device": "Lamp", "timeout": 2.5, "reconnect": false}"#,
        #"{"command": "disconnect", "device": "Lamp"}"#, #"{"command": "discover", "device": "Lamp"}"#,
        #"{"command": "read", "device": "Lamp", "characteristic": "180F/2A19#2"}"#,
        #"{"command": "read", "device": "Lamp", "handle": 65535}"#,
        #"{"command": "write", "device": "Lamp", "characteristic": "Battery Level", "value": "00fF"}"#,
        #"{"command": "write", "device": "Lamp", "handle": 3, "value": "", "response": false}"#,
        #"{"command": "subscribe", "device": "Lamp", "handle": 3}"#,
        #"{"command": "unsubscribe", "device": "Lamp", "characteristic": "0x2A37"}"#,
        #"{"command": "pair", "device": "Lamp"}"#, #"{"command": "unpair", "device": "Lamp"}"#,
        #"{"command": "answer", "device": "Lamp", "accept": false}"#,
        #"{"command": "answer", "device": "Lamp", "digits": "012345"}"#,
        #"{"command": "serve", "file": "lamp.json", "machine": "Lamp", "ask": ["2A19", "FFA0/FFA1"]}"#,
        #"{"command": "serve", "description": {"name": "Lamp", "services": []}, "advertise": false}"#,
        #"{"command": "withdraw"}"#, #"{"command": "start_advertising"}"#, #"{"command": "stop_advertising", "id": 1}"#,
        #"{"command": "update", "characteristic": "Battery Level", "value": "32"}"#,
        #"{"command": "respond", "request": 1}"#, #"{"command": "respond", "request": 1, "value": ""}"#,
        #"{"command": "respond", "request": 2147483647, "error": 255}"#,
        #"{"command": "publish_channel"}"#, #"{"command": "publish_channel", "encrypted": true}"#,
        #"{"command": "unpublish_channel", "psm": 128}"#,
        #"{"command": "open_channel", "device": "Lamp", "psm": 65535}"#,
        #"{"command": "send", "channel": 1, "value": ""# + String(repeating: "00", count: 16_384) + #""}"#,
        #"{"command": "close_channel", "channel": 1}"#,
        #"{"command": "rssi", "device": "Lamp"}"#, #"{"command": "mtu", "device": "Lamp", "id": 9007199254740991}"#,
    ]

    /// Lines that are not commands, with a part of the reason.
    static let invalid: [(line: String, reason: String)] = [
        (#"[1]"#, "not a JSON object"), ("", "not a JSON object"), (#"{"command": "#, "not a JSON object"),
        (#"{}"#, "“command” is missing"), (#"{"command": "fly"}"#, "no command “fly”. The commands are scan, stop,"),
        (#"{"command": 1}"#, "“command”"), (#"{"command": "stop", "id": true}"#, "“id”"),
        (#"{"command": "stop", "id": 1.5}"#, "“id”"), (#"{"command": "stop", "id": 9007199254740992}"#, "“id”"),
        (#"{"command": "stop", "device": "Lamp"}"#, "“device” is not a key of “stop”; its keys are command, id."),
        (#"{"command": "rssi"}"#, "“rssi” needs the key “device”"), (#"{"command": "rssi", "device": ""}"#, "“device”"),
        (#"{"command": "rssi", "device": 1}"#, "“device” must be a string"),
        (#"{"command": "read", "device": "Lamp"}"#, "either “characteristic” or “handle”"),
        (#"{"command": "read", "device": "a", "handle": 1, "characteristic": "2A19"}"#, "either “characteristic”"),
        (#"{"command": "read", "device": "a", "handle": 0}"#, "“handle” must be a number from 1 to 65535"),
        (#"{"command": "read", "device": "a", "handle": 1.5}"#, "“handle” must be a whole number"),
        (#"{"command": "read", "device": "a", "handle": true}"#, "“handle”"),
        (#"{"command": "write", "device": "a", "handle": 1}"#, "needs the key “value”"),
        (#"{"command": "write", "device": "a", "handle": 1, "value": "0"}"#, "“value”"),
        (#"{"command": "write", "device": "a", "handle": 1, "value": "00", "response": 1}"#, "“response”"),
        (#"{"command": "answer", "device": "a"}"#, "needs either “accept” or “digits”"),
        (#"{"command": "answer", "device": "a", "accept": true, "digits": "012345"}"#, "needs either “accept”"),
        (#"{"command": "answer", "device": "a", "digits": "12345"}"#, "“digits” must be six digits"),
        (#"{"command": "answer", "device": "a", "digits": 123456}"#, "“digits” must be a string"),
        (#"{"command": "connect", "device": "a", "timeout": -1}"#, "“timeout”"),
        (#"{"command": "connect", "device": "a", "reconnect": "yes"}"#, "“reconnect” must be true or false"),
        (#"{"command": "scan", "min_rssi": 21}"#, "“min_rssi” must be a number from -127 to 20"),
        (#"{"command": "scan", "services": "180D"}"#, "“services” must be an array"),
        (#"{"command": "serve"}"#, "needs either “file” or “description”"),
        (#"{"command": "serve", "file": "a", "description": {"name": "a"}}"#, "needs either “file” or “description”"),
        (
            #"{"command": "serve", "description": {"name": "a"}, "machine": "a"}"#,
            "“machine” selects a device in “file”"
        ),
        (#"{"command": "serve", "description": "a.json"}"#, "“description” must be an object"),
        (#"{"command": "serve", "file": "a", "ask": "FFA1"}"#, "“ask” must be an array"),
        (#"{"command": "respond", "request": 1, "value": "00", "error": 5}"#, "either “value” or “error”, not both"),
        (#"{"command": "respond", "request": 0}"#, "“request” must be a number from 1 to 2147483647"),
        (#"{"command": "respond", "request": 1, "error": 256}"#, "“error” must be a number from 1 to 255"),
        (#"{"command": "open_channel", "device": "a", "psm": 1.5}"#, "“psm” must be a whole number"),
        (#"{"command": "update", "handle": 3, "value": "00"}"#, "“handle” is not a key of “update”"),
        (
            #"{"command": "send", "channel": 1, "value": ""# + String(repeating: "00", count: 16_385) + #""}"#,
            "for at most 16384 octets"
        ),
    ]

    @Test("Valid commands are parsed, and the schema allows them", arguments: valid)
    func parses(line: String) throws {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
        #expect(throws: Never.self) { try SessionCommand(line) }
        #expect(try SchemaCheck().violation(of: "command", by: object) == nil)
    }

    @Test("Invalid commands are refused with a reason, and the schema forbids them", arguments: invalid)
    func refuses(line: String, reason: String) throws {
        let error = #expect(throws: SessionCommand.Invalid.self) { try SessionCommand(line) }
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) else { return }
        #expect(try SchemaCheck().violation(of: "command", by: object) != nil)
    }

    @Test(
        "A device that cannot be served is refused with the reason",
        arguments: [
            (#"{"services": []}"#, "“name” is missing"), (#"{"name": "a", "zzz": 1}"#, "“zzz” is not a key"),
            (#"{"name": "a", "address": "C0:FF"}"#, "is not six pairs"),
        ]
    )
    func devices(description: String, reason: String) {
        let line = #"{"command": "serve", "description": \#(description)}"#
        let error = #expect(throws: SessionCommand.Invalid.self) { try SessionCommand(line) }
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test("The schema has exactly the keys of each command", arguments: SessionCommand.Name.allCases)
    func keys(name: SessionCommand.Name) throws {
        let schema = try SchemaCheck().part(name.rawValue)
        let properties = try #require(schema["properties"] as? [String: Any])
        #expect(properties.keys.sorted() == name.allKeys)
        #expect(Set(try #require(schema["required"] as? [String])) == Set(["command"] + name.keys.required))
        #expect(throws: SessionCommand.Invalid.self) {
            try SessionCommand(#"{"command": "\#(name.rawValue)", "zzz": 1}"#)
        }
    }

    @Test("Every code of failures is in the schema and in the document")
    func codes() throws {
        let failed = try #require(try SchemaCheck().part("failed")["properties"] as? [String: [String: Any]])
        #expect(failed["code"]?["enum"] as? [String] == SessionFailure.Code.allCases.map(\.rawValue))
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/SESSION.md"), encoding: .utf8)
        for code in SessionFailure.Code.allCases { #expect(text.contains("| `\(code.rawValue)` |")) }
        for name in SessionCommand.Name.allCases {
            #expect(text.contains("| `\(name.rawValue)` |"))
            for key in name.allKeys { #expect(text.contains("`\(key)`")) }
        }
    }

    @Test("A line that is too long is refused")
    func long() {
        let line = #"{"command": "connect", "device": ""# + String(repeating: "a", count: 65_536) + #""}"#
        let error = #expect(throws: SessionCommand.Invalid.self) { try SessionCommand(line) }
        #expect(error?.reason == "The line is longer than 65536 octets.")
    }
}
