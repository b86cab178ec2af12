import BLEHost
import BLERuntime
import BLESession
import BLEWire
import CoreBluetooth
import Glibc
import Testing

@testable import BLEDaemon

@Suite("Launching through service units", .timeLimit(.minutes(30)))
struct LaunchTests {
    private static func place() -> String {
        FileManager.default.temporaryDirectory.path + "/launch-\(UUID().uuidString)"
    }

    private static func text(of path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    private func key(of user: UInt32, program: String = "", restoring identifier: String = "app") throws -> AppKey {
        let app = AppCredentials(user: user, groups: [], process: 1, program: program)
        return try #require(AppKey(Hello(.central, restoring: identifier), of: app))
    }

    @Test("A unit's file holds the identifiers to restore, only for the unit's user, until the unit runs")
    func file() throws {
        let place = Self.place()
        defer { try? FileManager.default.removeItem(atPath: place) }
        let folder = LaunchFolder(path: place), unit = try #require(UnitName("sensor.service"))
        try folder.write(["B": #"a"b\c$d`e"#, "A": ""], for: unit, of: 1000)
        let path = place + "/1000/sensor.service"
        #expect(Self.text(of: path) == "A=\"\"\nB=\"a\\\"b\\\\c\\$d\\`e\"\n")
        // The bits of the group are the mask of the access control list.
        for (path, mode) in [(place, 0o755), (place + "/1000", 0o750), (path, 0o640)] as [(String, mode_t)] {
            var facts = stat()
            #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == mode)
        }
        folder.remove(unit, of: 1000)
        #expect(Self.text(of: path) == nil)
    }

    @Test("A daemon's own units have files that no other user can read")
    func ownFile() throws {
        let place = Self.place()
        defer { try? FileManager.default.removeItem(atPath: place) }
        let folder = LaunchFolder(path: place), unit = try #require(UnitName("sensor.service")), own = geteuid()
        try folder.write([:], for: unit, of: own)
        for (path, mode) in [("/\(own)", 0o700), ("/\(own)/sensor.service", 0o600)] as [(String, mode_t)] {
            var facts = stat()
            #expect(stat(place + path, &facts) == 0 && facts.st_mode & 0o777 == mode)
        }
    }

    @Test("A value cannot end its quotation, even if marks are combined with its quotation marks")
    func quoting() throws {
        let place = Self.place()
        defer { try? FileManager.default.removeItem(atPath: place) }
        let folder = LaunchFolder(path: place), unit = try #require(UnitName("sensor.service"))
        try folder.write(["A": "x\"\u{301}\nB=\\\u{301}"], for: unit, of: 1000)
        #expect(Self.text(of: place + "/1000/sensor.service") == "A=\"x\\\"\u{301}B=\\\\\u{301}\"\n")
    }

    @Test("A user keeps at most 64 sessions, and leaves places for others")
    func keptSessions() throws {
        let radios = Radios([("scripted", ScriptedHost())]), log = DaemonLog(MonotonicClock())
        let sessions = KeptSessions(nil, launcher: AppLauncher(), radios: radios, under: .none, noting: log) {
        } later: { _, _ in
        }
        for number in 0...KeptSessions.mostPerUser {
            let entry = sessions.add(try key(of: 1, restoring: "app \(number)"), nil, RemoteAppSession {})
            #expect((entry == nil) == (number == KeptSessions.mostPerUser))
        }
        #expect(sessions.add(try key(of: 2), nil, RemoteAppSession {}) != nil)
    }

    @Test("A user has files for at most 64 units, which can be rewritten")
    func limit() throws {
        let place = Self.place()
        defer { try? FileManager.default.removeItem(atPath: place) }
        let folder = LaunchFolder(path: place)
        let units = (0...LaunchFolder.mostUnits).compactMap { UnitName("unit\($0).service") }
        for unit in units.dropLast() { try folder.write([:], for: unit, of: 1) }
        let cure = "Remove the files of units that are no longer used."
        #expect(throws: LaunchFailure("\(place)/1 already has 64 launch files, which is the limit", cure: cure)) {
            try folder.write([:], for: units[LaunchFolder.mostUnits], of: 1)
        }
        try folder.write(["A": "1"], for: units[0], of: 1)
        try folder.write([:], for: units[0], of: 2)
    }

    @Test("An app that names a unit is launched only through it, and manifests apply only to programs the kernel names")
    func ways() throws {
        let place = Self.place()
        defer { try? FileManager.default.removeItem(atPath: place) }
        let runs = Locked<[[String]]>([])
        let launcher = AppLauncher(telling: place) { _, _ in
            let text = #"{"UIBackgroundModes": ["bluetooth-central"], "LaunchCommand": ["/bin/app"]}"#
            return try? JSONDecoder().decode(AppManifest.self, from: Data(text.utf8))
        } run: { command, _, _ in
            runs.withLock { $0.append(command) }
        }
        let named = AppDescription(program: "/bin/app", unit: "app.service"), own = geteuid(), other = own + 1
        func launch(_ user: UInt32, _ program: String, _ description: AppDescription?) throws -> Bool {
            let key = try key(of: user, program: program)
            return try launcher.launch(AppLaunch(key, description), restoring: [key], on: "hci:0")
        }
        #expect(try launch(other, "", named))
        #expect(try !launch(other, "", named))
        #expect(runs.withLock { $0 } == [])
        let told = "BLUETOOTH_RESTORE_CENTRALS=\"app\"\nBLUETOOTH_RESTORE_PERIPHERALS=\"\"\n"
        #expect(Self.text(of: place + "/\(other)/app.service") == told)
        #expect(try !launch(other, "/bin/theirs", nil))
        #expect(try !launch(own, "", AppDescription(program: "/bin/claimed")))
        #expect(try launch(own, "/bin/app", nil))
        #expect(runs.withLock { $0 } == [["/bin/app"]])
        #expect(try !launch(own, "", AppDescription(program: "/bin/b", unit: "../b.service")))
    }

    @Test("A launched app receives the daemon's socket and its sessions' radio, through its command and its unit")
    func host() throws {
        let place = Self.place()
        defer { try? FileManager.default.removeItem(atPath: place) }
        let variables = Locked<[[String: String]]>([])
        let launcher = AppLauncher(telling: place, at: "/run/bled/socket") { program, _ in
            let text = #"{"UIBackgroundModes": ["bluetooth-central"], "LaunchCommand": ["/bin/app"]}"#
            return program == "/bin/app" ? try? JSONDecoder().decode(AppManifest.self, from: Data(text.utf8)) : nil
        } run: { _, told, _ in
            variables.withLock { $0.append(told) }
        }
        let key = try key(of: geteuid(), program: "/bin/app"), unit = try self.key(of: geteuid(), program: "/bin/unit")
        _ = try launcher.launch(AppLaunch(key, nil), restoring: [key], on: "hci:1")
        let told = variables.withLock { $0.first }
        #expect(told?["BLUETOOTH_HOST"] == "bled:/run/bled/socket#hci:1")
        let app = AppLaunch(unit, AppDescription(program: "/bin/unit", unit: "app.service"))
        _ = try launcher.launch(app, restoring: [unit], on: "tcp:localhost:1")
        let text = Self.text(of: "\(place)/\(geteuid())/app.service")
        #expect(text?.hasPrefix("BLUETOOTH_HOST=\"bled:/run/bled/socket#tcp:localhost:1\"\n") == true)
    }

    @Test("An app is expected from its launch until it connects")
    func awaited() throws {
        let place = Self.place()
        defer { try? FileManager.default.removeItem(atPath: place) }
        let launcher = AppLauncher(telling: place) { _, _ in nil }
        let key = try key(of: 1), app = AppLaunch(key, AppDescription(program: "/bin/app", unit: "app.service"))
        #expect(!launcher.isAwaited(app))
        #expect(try launcher.launch(app, restoring: [key], on: "hci:0"))
        #expect(launcher.isAwaited(app))
        launcher.endLaunch(of: app)
        #expect(!launcher.isAwaited(app))
    }

    @Test(
        "The end of a launched program is reported with its process and how it ended",
        arguments: [
            ("exit 3", "ended with status 3"), ("kill -9 $$", "was terminated by signal 9"),
        ]
    )
    func ends(script: String, words: String) async throws {
        let (ends, sink) = AsyncStream.makeStream(of: AppLauncher.End.self)
        try AppLauncher.spawn(["/bin/sh", "-c", script], [:]) { sink.yield($0) }
        let end = try #require(await ends.first { _ in true })
        #expect(end.words == words && end.process > 0 && end.command == "/bin/sh -c \(script)")
    }

    @Test("Apps that the kernel cannot distinguish are distinguished by their own description")
    func sameIdentifier() throws {
        let key = try key(of: 1)
        let one = AppLaunch(key, AppDescription(program: "/bin/one"))
        #expect(!one.isSameApp(as: AppLaunch(key, AppDescription(program: "/bin/two"))))
        let told = try AppLaunch(self.key(of: 1, program: "/bin/one"), AppDescription(program: "/bin/two"))
        #expect(told.isSameApp(as: one))
    }

    @Test("A session is stored with its app's description, and older records without one can be read")
    func record() throws {
        let key = try key(of: 1), state = PreservedState(.central)
        for description in [nil, AppDescription(program: "/bin/app", unit: "app.service")] {
            let record = KeptRecord(key: key, state: state, description: description)
            #expect(try KeptRecord(decoding: record.encoded) == record)
        }
    }
}
