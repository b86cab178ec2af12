import BLERuntime
import BLEWire
import Testing

@testable import BLEConformance

@Suite("Numbers in test cases")
struct AttributeNumberTests {
    private static let senseless = [
        "-1", "1.5", "65536", "1e30", "1e300", "1e999", "99999999999999999999", #""1""#, "[]",
    ]

    /// Where a case has a number, and the keys that lead there.
    private static let places = [
        (#"{"mtu": %}"#, "mtu"),
        (service(#""start": %, "end": 9, "items": []"#), "database.services[0].start"),
        (service(#""start": 1, "end": %, "items": []"#), "database.services[0].end"),
        (item(#""kind": "descriptor", "handle": %"#), "database.services[0].items[0].handle"),
        (item(#""kind": "include", "handle": 2, "start": %"#), "database.services[0].items[0].start"),
        (item(#""kind": "include", "handle": 2, "end": %"#), "database.services[0].items[0].end"),
        (
            item(#""kind": "characteristic", "handle": 2, "value_handle": %"#),
            "database.services[0].items[0].value_handle"
        ),
        (item(#""kind": "characteristic", "handle": 2, "properties": %"#), "database.services[0].items[0].properties"),
        (item(#""kind": "descriptor", "handle": 2, "permissions": %"#), "database.services[0].items[0].permissions"),
        (#"{"mtu": 64, "operation": {"op": "read", "handle": %}}"#, "operation.handle"),
        (#"{"mtu": 64, "operation": {"op": "read_multiple", "handles": [1, %]}}"#, "operation.handles[1]"),
        (#"{"mtu": 64, "operation": {"op": "discover_included", "start": %}}"#, "operation.start"),
        (#"{"mtu": 64, "operation": {"op": "discover_included", "end": %}}"#, "operation.end"),
    ]

    private static func service(_ fields: String) -> String {
        #"{"mtu": 64, "database": {"services": [{"type": "primary", "uuid": "180f", \#(fields)}]}}"#
    }

    private static func item(_ fields: String) -> String {
        service(#""start": 1, "end": 9, "items": [{"uuid": "2a19", \#(fields)}]"#)
    }

    @Test("A number out of bounds is refused with its key", arguments: places.indices)
    func bounds(index: Int) {
        let (json, keys) = Self.places[index]
        for number in Self.senseless {
            let error = #expect(throws: DecodingError.self, "\(number)") {
                try AttributeCase(json: json.replacing("%", with: number))
            }
            #expect(error?.explanation.hasSuffix(" is expected (at \(keys))") == true, "\(number)")
        }
    }

    @Test("An invalid line of standard input is also refused", arguments: senseless)
    func lines(number: String) throws {
        var server = try AttributeServerDriver(AttributeCase(json: AttributeCases.battery), at: Instant())
        let line = #"{"do": {"op": "send_notification", "handle": \#(number), "value": "01"}}"#
        let error = #expect(throws: InvalidInput.self) { try server.receive(line: line, at: Instant()) }
        #expect(error?.description.contains(" is expected (at do.handle)") == true)
    }

    @Test("A value of more than 512 octets is refused with its handle and the limit")
    func lengths() throws {
        func make(octets: Int) throws {
            let value = String(repeating: "00", count: octets)
            let json = Self.item(#""kind": "descriptor", "handle": 2, "value": "\#(value)""#)
            _ = try AttributeCase(json: json).makeDatabase()
        }
        #expect(throws: Never.self) { try make(octets: 512) }
        let error = #expect(throws: InvalidInput.self) { try make(octets: 513) }
        #expect(error?.description == "the value at 0x0002 has more than 512 octets")
    }
}
