import BLEWire
import Testing

@testable import BLEConformance

@Suite("att server")
struct AttributeServerTests {
    /// A driver, and what it says to each packet.
    struct Server {
        var driver: AttributeServerDriver

        init(_ json: String) throws {
            driver = try AttributeServerDriver(AttributeCase(json: json), at: Instant())
            #expect(driver.next() == .line(#"{"ready":true}"#))
        }

        mutating func answers(to packet: String) throws -> [DriverOutput] {
            driver.receive(packet: try [UInt8](hexadecimal: packet), at: Instant())
            return outputs()
        }

        mutating func outputs() -> [DriverOutput] {
            var outputs: [DriverOutput] = []
            while let next = driver.next() { outputs.append(next) }
            return outputs
        }

        mutating func expect(_ request: String, _ answer: String?, _ comment: Comment? = nil) throws {
            let expected: [DriverOutput] = try answer.map { [.packet(try [UInt8](hexadecimal: $0))] } ?? []
            #expect(try answers(to: request) == expected, comment)
        }
    }

    @Test("The server serves exactly the handles of its case")
    func sample() throws {
        var server = try Server(AttributeCases.battery)
        try server.expect("021700", "034000", "exchange MTU")
        try server.expect("100100ffff0028", "110610001f000f18", "services")
        try server.expect("0a1400", "0b5a", "read")
        try server.expect("0a1100", "0b121400192a", "read a declaration")
        try server.expect("12140001", "0112140003", "write what can only be read")
        try server.expect("0c14000200", "010c140007", "read behind the end")
        try server.expect("ff", nil, "a command that there is not")
        try server.expect("3f", "013f000006", "a request that there is not")
        try server.expect("0a1200", "010a120001", "a gap")
        try server.expect("0a", "010a000004", "a request cut short")
    }

    @Test("The server stores values written to configuration descriptors like any other value")
    func configuration() throws {
        var server = try Server(AttributeCases.battery)
        try server.expect("0a1500", "0b0000")
        try server.expect("1215000100", "13")
        try server.expect("0a1500", "0b0100")
    }

    @Test(
        "The server enforces the permissions of each attribute",
        arguments: [
            ("0a2d01", "010a2d0105"), ("122d0100", "01122d0103"), ("0a2f01", "010a2f0105"), ("122f0100", "01122f0105"),
            ("0a3101", "010a310108"), ("0a3501", "010a350102"), ("0a3301", "0b0405"),
            ("162d0100000a", "01162d0103"), ("082d012d0101b0", "01082d0105"), ("0e33012f01", "010e2f0105"),
        ]
    )
    func permissions(request: String, answer: String) throws {
        var server = try Server(AttributeCases.permissions)
        try server.expect(request, answer)
    }

    @Test("The server sorts services, and omits long UUIDs from include declarations")
    func order() throws {
        var server = try Server(AttributeCases.permissions)
        try server.expect("100100ffff0128", "110601000f000a18")
        try server.expect("100100ffff0028", "11140001ff01f0debc9a785634127856341278563412")
        try server.expect("080001ff010228", "0908010101000f000a18")
        try server.expect("060100ffff0028f0debc9a785634127856341278563412", "070001ff01")
    }

    @Test("The server joins prepared writes")
    func prepared() throws {
        var server = try Server(AttributeCases.permissions)
        try server.expect("163301000007", "173301000007")
        try server.expect("163301010008090a", "173301010008090a")
        try server.expect("1801", "19")
        try server.expect("0a3301", "0b0708090a")
        try server.expect("1633010900ff", "1733010900ff")
        try server.expect("1801", "0118330107", "an offset behind the end")
        try server.expect("1633010000ff", "1733010000ff")
        try server.expect("1800", "19")
        try server.expect("0a3301", "0b0708090a", "cancelled")
    }

    @Test("The server writes several prepared values as one only for attributes that allow it")
    func reliable() throws {
        var server = try Server(AttributeCases.permissions)
        for (request, answer) in [("160300000001", "170300000001"), ("163301000002", "173301000002")] {
            try server.expect(request, answer)
        }
        try server.expect("1801", "0118030006")
        try server.expect("1801", "19", "nothing is left")
        try server.expect("0a3301", "0b0405")
    }

    @Test("The server sends the notifications and indications that it is told to send")
    func sending() throws {
        var server = try Server(AttributeCases.battery)
        let notify = #"{"do": {"op": "send_notification", "handle": 20, "value": "0102"}}"#
        try server.driver.receive(line: notify, at: Instant())
        #expect(server.outputs() == [.line(#"{"result":{}}"#), .packet([0x1B, 20, 0, 1, 2])])
        let indicate = #"{"do": {"op": "send_indication", "handle": 20, "value": "03"}}"#
        try server.driver.receive(line: indicate, at: Instant())
        #expect(server.outputs() == [.packet([0x1D, 20, 0, 3])])
        #expect(try server.answers(to: "1e") == [.line(#"{"result":{"confirmed":true}}"#)])
    }

    @Test(
        "The server refuses invalid cases",
        arguments: [
            #"{"type": "tertiary", "uuid": "180f", "start": 1, "end": 2, "items": []}"#,
            #"{"type": "primary", "uuid": "18", "start": 1, "end": 2, "items": []}"#,
            #"{"type": "primary", "uuid": "180f", "start": 3, "end": 2, "items": []}"#,
            """
            {"type": "primary", "uuid": "180f", "start": 1, "end": 2, "items": [
                {"kind": "descriptor", "handle": 3, "uuid": "2902", "permissions": 3, "value": ""}]}
            """,
        ]
    )
    func senseless(service: String) throws {
        let json = #"{"mtu": 64, "database": {"services": ["# + service + "]}}"
        #expect(throws: InvalidInput.self) { try AttributeServerDriver(AttributeCase(json: json), at: Instant()) }
    }
}
