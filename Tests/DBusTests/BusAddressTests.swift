import BLERuntime
import Testing

@testable import DBus

@Suite("D-Bus addresses")
struct BusAddressTests {
    private static let addresses: [(text: String, places: [SocketAddress])] = [
        ("unix:path=/run/user/1000/bus", [.unix(path: "/run/user/1000/bus")]),
        ("unix:path=/tmp/dbus-x,guid=0123456789abcdef", [.unix(path: "/tmp/dbus-x")]),
        ("unix:guid=01,abstract=/tmp/dbus-x", [.abstract(name: "/tmp/dbus-x")]),
        ("unix:path=/a%20b%2c%3Bc", [.unix(path: "/a b,;c")]),
        ("unix:path=/%c3%A9", [.unix(path: "/é")]),
        ("tcp:host=localhost,port=1;unix:path=/a;unix:abstract=b", [.unix(path: "/a"), .abstract(name: "b")]),
        ("autolaunch:;unix:path=/a;", [.unix(path: "/a")]),
        ("unix:tmpdir=/tmp;unix:path=/a", [.unix(path: "/a")]),
    ]

    @Test("The Unix sockets of an address are found in order", arguments: addresses)
    func places(text: String, places: [SocketAddress]) throws {
        #expect(try BusAddress.places(in: text) == places)
    }

    @Test(
        "An invalid address is named in the error",
        arguments: [
            "path=/a", ":path=/a", "unix:path", "unix:=/a", "unix:path=a", "unix:path=", "unix:abstract=",
            "unix:path=/a,abstract=b", "unix:path=/%", "unix:path=/%4", "unix:path=/%+1", "unix:path=/%zz",
            "unix:path=/%00", "unix:path=/%ff",
        ]
    )
    func malformed(text: String) {
        #expect(throws: BusAddress.Mistake.malformed(text)) { try BusAddress.places(in: text) }
        #expect(throws: BusAddress.Mistake.malformed(text)) { try BusAddress.places(in: "unix:path=/a;" + text) }
    }

    @Test("Addresses without a Unix socket and overlong ones are refused")
    func unsupported() {
        for text in ["tcp:host=localhost,port=1", "autolaunch:", "unix:runtime=yes", ";"] {
            #expect(throws: BusAddress.Mistake.unsupported(text)) { try BusAddress.places(in: text) }
        }
        #expect(throws: BusAddress.Mistake.self) {
            try BusAddress.places(in: "unix:path=/" + String(repeating: "a", count: 4_096))
        }
    }

    @Test("Without an address, the bus is in the user's runtime directory")
    func environment() throws {
        let both = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/a", "XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(try BusAddress.ofSession { both[$0] } == [.unix(path: "/a")])
        for address in [nil, ""] {
            let one = ["DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": "/run/user/7"]
            #expect(try BusAddress.ofSession { one[$0] ?? nil } == [.unix(path: "/run/user/7/bus")])
        }
        for directory in [nil, "", "run"] {
            let none = ["XDG_RUNTIME_DIR": directory]
            #expect(throws: BusAddress.Mistake.missing) { try BusAddress.ofSession { none[$0] ?? nil } }
        }
    }
}
