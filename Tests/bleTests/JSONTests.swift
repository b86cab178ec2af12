import ArgumentParser
import BLERuntime
import BLESimulation
import CoreBluetooth
import Glibc
import Testing

@testable import ble

@Suite("JSON lines", .serialized, .timeLimit(.minutes(30)))
struct JSONTests {
    /// A command whose lines are looked at.
    struct Case: Codable, Sendable, CustomTestStringConvertible {
        /// Where the command has its radio from.
        enum Place: String, Codable {
            /// A phone in a world with a device of each kind.
            case phone
            /// The same, and an app that uses what the command offers.
            case visited
            /// A daemon, of which this process is an app as well.
            case daemon
        }

        var words: [String]
        /// The events that come.
        var events: [String]
        var place = Place.phone
        /// What is printed when the command is to end.
        var end: String?
        var input = ""

        init(_ words: String, _ events: [String], in place: Place = .phone, until end: String? = nil) {
            self.words = words.split(separator: " ").map(String.init)
            (self.events, self.place, self.end) = (events, place, end)
        }

        var testDescription: String { words.joined(separator: " ") }
    }

    static let cases: [Case] = [
        Case("demo", ["discovered", "connected", "subscribed", "wrote", "received", "left"]),
        Case("demo --packets", ["packet", "received"]),
        Case("scan --duration 3", ["discovered"]),
        Case("inspect Lamp", ["peripheral", "service", "characteristic", "descriptor"]),
        Case("read Lamp 2A6E 2A29", ["read"]),
        Case("read Lamp FFA2 2A6E --count 1", ["read", "failed"]),
        Case("write Lamp FFA1 01", ["wrote"]),
        Case("notify Lamp 2A6E --count 1", ["subscribed", "received"]),
        Case("notify Lamp FFA1 --count 3 --duration 3600", ["subscribed"], until: "\"subscribed\""),
        Case("serve FILE", ["advertising", "subscribed", "read", "written"], in: .visited, until: "\"written\""),
        Case("channel open Echo --count 5", ["opened", "received", "closed"]),
        Case("channel serve --name Visited", ["published", "advertising"], until: "\"advertising\""),
        Case("channel serve --echo --name Visited", ["published", "advertising"], until: "\"advertising\""),
        Case("chat host --stay --name Hall", ["opened"], until: "\"opened\""),
        Case("chat join Lobby --stay", ["ready", "discovered", "connected", "subscribed"], until: "\"subscribed\""),
        Case("radio --port PORT", ["listening"], until: "\"listening\""),
        Case("explore", ["listening"], until: "\"listening\""),
        Case("monitor CAPTURE", ["call", "packet", "lost"]),
        Case("apps", ["app"], in: .daemon),
        Case("app SELF background", ["app_moved"], in: .daemon),
        Case("links list", ["link"], in: .daemon),
        Case("links end --all", ["link_ended"], in: .daemon),
        Case("power", ["radio"], in: .daemon),
        Case("policy", ["policy"], in: .daemon),
        Case("logs", ["log"], in: .daemon),
        Case("bonds list", []),
    ]

    static let lamp = """
        {"name": "Lamp", "services": [{"uuid": "FFA0", "characteristics": [
          {"uuid": "FFA1", "properties": ["read", "write", "notify"], "value": "11"},
          {"uuid": "FFA2", "properties": ["write"], "value": "11"}]},
          {"uuid": "181A", "characteristics": [
          {"uuid": "2A6E", "properties": ["read", "notify"], "value": "7008",
            "descriptors": [{"uuid": "2901", "text": "Outside"}],
            "notify": {"every": 100, "values": ["7008"]}},
          {"uuid": "2A29", "properties": ["read"], "text": "Acme"}]}]}
        """

    /// The commands that have `--json`, each as its words.
    static func commands(of command: any ParsableCommand.Type = Ble.self, _ words: [String] = []) -> [[String]] {
        let children = command.configuration.subcommands
        guard children.isEmpty else {
            return children.flatMap { child in commands(of: child, words + [child._commandName]) }
        }
        return command.helpMessage(columns: 200).contains("--json") ? [words] : []
    }

    @Test("Every command that prints JSON is tested")
    func all() {
        let missing = Self.commands().filter { words in !Self.cases.contains { $0.words.starts(with: words) } }
        // Two ask the machine, one needs the program ble-objc, one a bond, and one goes on until it is stopped.
        #expect(missing == [["adapters"], ["doctor"], ["toolset"], ["bonds", "remove"], ["agent"]])
        #expect(Self.commands().count > 20)
    }

    @Test("Each line is an object whose keys always have the same types of values", arguments: cases)
    func lines(of tried: Case) async throws {
        // Short, since the path of a socket has at most 107 octets.
        let folder = "/tmp/json-\(UInt64.random(in: 0 ... .max))"
        try #require(mkdir(folder, 0o700) == 0)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(Self.lamp.utf8).write(to: URL(filePath: folder + "/lamp.json"))
        try Data(MonitorTests.capture).write(to: URL(filePath: folder + "/talk.pcapng"))
        let result = await #expect(
            processExitsWith: .exitCode(tried.words[0] == "read" && tried.events.contains("failed") ? 1 : 0),
            observing: [\.standardOutputContent, \.standardErrorContent]
        ) { [tried, folder = folder as String] in
            try await JSONStage(tried, folder: folder).run()
        }
        let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        var events: Set<String> = []
        for line in text.split(separator: "\n") {
            let object = try #require(try? MonitorTests.object(String(line)), "\(line)")
            let event = try #require(object["event"] as? String)
            events.insert(event)
            for (key, value) in object {
                let kind = JSONKey.kind(of: key, in: event)
                #expect(kind?.accepts(value) == true, "\(key) of \(line)")
                if event != "log", let text = value as? String, ["value", "text", "reading"].contains(key) {
                    #expect(!text.contains("“"), "\(line)")
                }
            }
            Self.check(object, event, of: tried)
        }
        #expect(events.isSuperset(of: tried.events), "\(text) \(said)")
    }

    private static func check(_ object: [String: Any], _ event: String, of tried: Case) {
        let isGATT = ["inspect", "read", "write", "notify"].contains(tried.words[0])
        if isGATT || event == "discovered" || tried.words.starts(with: ["channel", "open"]) {
            #expect(object["identifier"] is String && object["name"] is String, "\(object)")
        }
        if isGATT, event != "peripheral" { #expect(object["service"] is String, "\(object)") }
        if object["characteristic"] as? String == "2A6E", object["value"] != nil, event != "descriptor" {
            #expect(object["number"] as? Double == 21.6 && object["unit"] as? String == "°C", "\(object)")
        }
        if tried.words[0] == "demo" { #expect(object["worldTime"] is Double && object["time"] == nil, "\(object)") }
        if event == "packet" { #expect(object["machine"] is String && object["who"] is String) }
    }

    @Test("A radio that the daemon does not have has no power state")
    func unknownRadio() async throws {
        let folder = "/tmp/json-\(UInt64.random(in: 0 ... .max))"
        try #require(mkdir(folder, 0o700) == 0)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
            [folder = folder as String] in
            try await JSONStage(Case("power --radio nowhere", [], in: .daemon), folder: folder).run()
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains("The daemon refused: there is no radio “nowhere”, only “"))
    }

    @Test("Remarks go to standard error when standard output is JSON")
    func remarks() async {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardOutputContent, \.standardErrorContent]
        ) {
            await Printer(json: true).remark("Nothing is here.")
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let printed = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(said.contains("Nothing is here.\n") && !printed.contains("Nothing is here."))
    }
}

extension JSONKey.Kind {
    /// Whether a value that was read from JSON is of this kind.
    func accepts(_ value: Any) -> Bool {
        switch self {
        case .text: return value is String
        case .octets: return (value as? String).map { Data(hexadecimal: $0) != nil } ?? false
        case .time:
            let form = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z/
            return (value as? String)?.wholeMatch(of: form) != nil
        case .flag, .number: return value is NSNumber
        case .list: return value is [Any]
        case .object: return value is [String: Any]
        }
    }
}
