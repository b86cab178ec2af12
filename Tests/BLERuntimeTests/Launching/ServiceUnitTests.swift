import Foundation
import Testing

@testable import BLERuntime

@Suite("Service units of apps")
struct ServiceUnitTests {
    @Test(
        "The unit is the last service in the path of the process's cgroup, except user managers",
        arguments: [
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/sensor.service\n", "sensor.service", true),
            ("0::/system.slice/sensor.service\n", "sensor.service", false),
            ("0::/system.slice/system-sensor.slice/sensor@attic.service/worker\n", "sensor@attic.service", false),
            ("12:pids:/x.service\n1:name=systemd:/system.slice/sensor.service\n", "sensor.service", false),
            ("0::/user.slice/user-1000.slice/session-2.scope\n", nil, false),
            ("0::/user.slice/user-1000.slice/user@1000.service/init.scope\n", nil, true),
            ("0::/\n", nil, false),
            ("", nil, false),
            ("0::/system.slice/bad name.service\n", nil, false),
        ] as [(String, String?, Bool)]
    )
    func group(text: String, name: String?, isOfUser: Bool) {
        let unit = ServiceUnit(inGroups: text)
        #expect(unit?.name.description == name)
        if let unit { #expect(unit.isOfUser == isOfUser) }
    }

    @Test(
        "A unit's file declares modes in its Bluetooth section, by the rules of systemd",
        arguments: [
            ("[X-Bluetooth]\nUIBackgroundModes=bluetooth-central\n", ["bluetooth-central"]),
            ("[X-Bluetooth]\n UIBackgroundModes = a, b\tc \n", ["a", "b", "c"]),
            ("[X-Bluetooth]\nUIBackgroundModes=a\nUIBackgroundModes=b\n", ["a", "b"]),
            ("[X-Bluetooth]\nUIBackgroundModes=a\nUIBackgroundModes=\nUIBackgroundModes=b", ["b"]),
            ("[X-Bluetooth]\nUIBackgroundModes=a \\\n# not this\n  b\n", ["a", "b"]),
            ("[X-Bluetooth]\n#UIBackgroundModes=a\n;UIBackgroundModes=b\n", []),
            ("[Service]\nUIBackgroundModes=a\n[X-Bluetooth]\nOther=b\n", []),
            ("[X-Bluetooth]\nUIBackgroundModes=a\n[Service]\nUIBackgroundModes=b\n", ["a"]),
            ("UIBackgroundModes=a\\", []),
            ("", []),
        ]
    )
    func declaration(text: String, modes: [String]) {
        #expect(ServiceUnit.backgroundModes(in: text) == modes)
    }

    @Test("The first file in systemd's order applies, and a template's file applies to its instances")
    func places() throws {
        let root = FileManager.default.temporaryDirectory.path + "/units-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: root) }
        func put(_ path: String, _ mode: String) throws {
            let file = root + path, folder = String(file[..<(try #require(file.lastIndex(of: "/")))])
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try "[X-Bluetooth]\nUIBackgroundModes=\(mode)\n".write(toFile: file, atomically: true, encoding: .utf8)
        }
        func modes(_ group: String) throws -> [String] {
            let unit = try #require(ServiceUnit(inGroups: "0::\(group)\n"))
            return unit.backgroundModes(below: root) { $0 == "HOME" ? "/place/of/mine" : nil }
        }
        let system = "/system.slice/sensor@attic.service", user = "/user@7.service/app.slice/sensor@attic.service"
        #expect(try modes(system).isEmpty && modes(user).isEmpty)
        try put("/usr/lib/systemd/system/sensor@.service", "packaged")
        #expect(try modes(system) == ["packaged"] && modes(user).isEmpty)
        try put("/etc/systemd/system/sensor@attic.service", "local")
        try put("/place/of/mine/.config/systemd/user/sensor@.service", "mine")
        #expect(try modes(system) == ["local"])
        #expect(try modes(user) == ["mine"])
    }

    @Test(
        "Valid service unit names are those that systemd allows",
        arguments: [
            ("sensor.service", true), ("a@b.service", true), ("dev-x\\x2dy.service", true), (".service", false),
            ("sensor", false), ("sensor.socket", false), ("../sensor.service", false), ("a/b.service", false),
            ("@b.service", false), (".hidden.service", false), ("sensör.service", false), ("a b.service", false),
            (String(repeating: "a", count: 247) + ".service", true),
            (String(repeating: "a", count: 248) + ".service", false),
        ]
    )
    func names(name: String, isAllowed: Bool) {
        #expect(UnitName(name)?.description == (isAllowed ? name : nil))
    }
}
