import BLERuntime
import BLEWire
import Testing

@Suite("Host specification")
struct HostSpecificationTests {
    @Test(
        "Every kind of host is parsed",
        arguments: [
            ("tcp:127.0.0.1:6402", .socket(.tcp(host: "127.0.0.1", port: 6402))),
            ("tcp:localhost:1", .socket(.tcp(host: "localhost", port: 1))),
            ("tcp:[::1]:65535", .socket(.tcp(host: "::1", port: 65535))),
            ("unix:/run/hci", .socket(.unix(path: "/run/hci"))),
            ("unix:a:b", .socket(.unix(path: "a:b"))),
            ("hci:0", .adapter(.index(AdapterIndex(wire: 0)))),
            ("hci:first", .adapter(.first)),
            ("hci:hci12", .adapter(.index(AdapterIndex(wire: 12)))),
            ("hci:00:1a:7D:DA:71:13", .adapter(.address(DeviceAddress(0x001A_7DDA_7113, .public)))),
            ("serial:/dev/ttyACM0", .serial(SerialAddress(path: "/dev/ttyACM0", rate: 1_000_000))),
            (
                "serial:/dev/serial/by-id/usb@x@115200,rtscts",
                .serial(SerialAddress(path: "/dev/serial/by-id/usb@x", rate: 115_200, hasFlowControl: true))
            ),
            ("world:home.json", .world(file: "home.json")),
            ("demo", .demo),
        ] as [(String, HostSpecification)]
    )
    func understood(text: String, expected: HostSpecification) throws {
        let specification = try HostSpecification(text)
        #expect(specification == expected)
    }

    @Test(
        "An invalid host is refused with the remedy",
        arguments: [
            "", "demo:", "Demo", "tcp", "tcp:", "tcp:host", "tcp:host:", "tcp::80", "tcp:host:0", "tcp:host:65536",
            "tcp:host:x", "tcp:host:-1", "tcp:host:1e3",
            "tcp:host:99999999999999999999", "tcp:[]:1", "unix:", "world:", "usb:0", ":x", "hci:", "hci:x", "hci:-1",
            "hci:65535", "hci:00:1A:7D:DA:71", "hci:00:00:00:00:00:00", "hci0",
            "serial:", "serial:ttyACM0", "serial:/dev/ttyACM0@", "serial:/dev/ttyACM0@fast", "serial:/dev/ttyACM0@0",
            "serial:/dev/ttyACM0@99999999", "serial:/dev/ttyACM0,xonxoff", "serial:@115200",
        ]
    )
    func refused(text: String) {
        do throws(HostSpecification.Malformed) {
            Issue.record("\(try HostSpecification(text)) came of \(text)")
        } catch {
            #expect(error.description.contains("tcp:HOST:PORT"))
        }
    }

    @Test("An address is printed as it was parsed", arguments: ["tcp:host:80", "tcp:[::1]:80", "unix:/run/hci"])
    func written(text: String) throws {
        guard case .socket(let address) = try HostSpecification(text) else {
            Issue.record("\(text) is no socket")
            return
        }
        #expect(address.description == text)
    }
}
