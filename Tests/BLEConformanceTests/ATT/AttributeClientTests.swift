import BLEWire
import Testing

@testable import BLEConformance

@Suite("att client")
struct AttributeClientTests {
    /// A client and a server driver whose packets reach each other.
    struct Pair {
        var client: AttributeClientDriver
        var server: AttributeServerDriver
        var lines: [String] = []
        /// What the client sent.
        var sent: [String] = []

        init(client: String, server: String) throws {
            self.client = try AttributeClientDriver(AttributeCase(json: client), at: Instant())
            self.server = try AttributeServerDriver(AttributeCase(json: server), at: Instant())
            settle()
        }

        mutating func settle() {
            var moved = true
            while moved {
                moved = false
                while let next = client.next() {
                    moved = true
                    switch next {
                    case .packet(let packet):
                        sent.append(packet.hexadecimal)
                        server.receive(packet: packet, at: Instant())
                    case .line(let line): lines.append(line)
                    }
                }
                while let next = server.next() {
                    guard case .packet(let packet) = next else { continue }
                    moved = true
                    client.receive(packet: packet, at: Instant())
                }
            }
        }

        mutating func ask(_ operation: String) throws -> [String] {
            lines = []
            sent = []
            try client.receive(line: #"{"do": \#(operation)}"#, at: Instant())
            settle()
            return lines
        }
    }

    static let client = #"{"mtu": 64, "context": "client", "database": null}"#

    @Test("The client discovers everything on the server as an app does, prints it, then waits")
    func discovery() throws {
        let pair = try Pair(client: Self.client, server: AttributeCases.battery)
        #expect(
            pair.lines == [
                #"{"ready":true,"services":[{"characteristics":[{"descriptors":[{"handle":21,"uuid":"2902"}],"#
                    + #""properties":18,"uuid":"2a19","value_handle":20}],"end":31,"primary":true,"start":16,"#
                    + #""uuid":"180f"}]}"#
            ]
        )
        #expect(
            pair.sent == [
                "024000", "100100ffff0028", "102000ffff0028", "100100ffff0128", "081100ffff0228", "081100ffff0328",
                "041500ffff", "081600ffff0328", "041600ffff",
            ]
        )
    }

    @Test("The client finds secondary services that no service includes")
    func secondaryServices() throws {
        let server = #"""
            {"mtu": 64, "context": "server", "database": {"services": [
                {"type": "primary", "uuid": "180f", "start": 1, "end": 2, "items": []},
                {"type": "secondary", "uuid": "180a", "start": 3, "end": 6, "items": [
                    {"kind": "characteristic", "handle": 4, "uuid": "2a29", "properties": 2, "value_handle": 5,
                     "permissions": 1, "value": "5a"}]}]}}
            """#
        var pair = try Pair(client: Self.client, server: server)
        let services =
            #""services":[{"characteristics":[],"end":2,"primary":true,"start":1,"uuid":"180f"},"#
            + #"{"characteristics":[{"descriptors":[],"properties":2,"uuid":"2a29","value_handle":5}],"end":6,"#
            + #""primary":false,"start":3,"uuid":"180a"}]}"#
        #expect(pair.lines == [#"{"ready":true,"# + services])
        #expect(try pair.ask(#"{"op": "discover_all"}"#) == [#"{"result":{"att_error":0,"# + services + "}"])
    }

    @Test("The client does without secondary services if the server refuses to list them")
    func noSecondaryServices() throws {
        var client = try AttributeClientDriver(AttributeCase(json: Self.client), at: Instant())
        for (request, answer) in [
            ("024000", "034000"), ("100100ffff0028", "110601000100 0f18"), ("100200ffff0028", "011002000a"),
            ("100100ffff0128", "0110010010"),
        ] {
            let asked = DriverOutput.packet(try [UInt8](hexadecimal: request))
            #expect(client.next() == asked)
            client.receive(packet: try [UInt8](hexadecimal: answer.filter { $0 != " " }), at: Instant())
        }
        let service = #"{"characteristics":[],"end":1,"primary":true,"start":1,"uuid":"180f"}"#
        #expect(client.next() == .line(#"{"ready":true,"services":[\#(service)]}"#))
    }

    @Test(
        "The client writes a long value in parts, and refuses one that is too long without sending any of it",
        arguments: [(60, 0, ["1633013b0000", "1801"]), (62, 0, ["1633013b00000000", "1801"]), (513, 13, [])]
    )
    func longWrites(octets: Int, error: Int, rest: [String]) throws {
        let first = "1633010000" + String(repeating: "00", count: 59)
        for operation in ["write_long", "write_reliable"] {
            var pair = try Pair(client: Self.client, server: AttributeCases.permissions)
            let value = String(repeating: "00", count: octets)
            let lines = try pair.ask(#"{"op": "\#(operation)", "handle": 307, "value": "\#(value)"}"#)
            #expect(lines == [#"{"result":{"att_error":\#(error)}}"#])
            #expect(pair.sent == (rest.isEmpty ? [] : [first] + rest))
        }
    }

    @Test(
        "The client performs the requested operation and prints its result",
        arguments: [
            (#"{"op": "read", "handle": 307}"#, #"{"result":{"att_error":0,"value":"0405"}}"#, ["0a3301"]),
            (#"{"op": "read", "handle": 301}"#, #"{"result":{"att_error":5}}"#, ["0a2d01"]),
            (
                #"{"op": "read", "handle": 303, "auto_elevate_security": true}"#, #"{"result":{"att_error":5}}"#,
                ["0a2f01", "0a2f01"]
            ),
            (#"{"op": "read_long", "handle": 307}"#, #"{"result":{"att_error":0,"value":"0405"}}"#, ["0a3301"]),
            (
                #"{"op": "read_multiple", "handles": [307, 3]}"#, #"{"result":{"att_error":0,"value":"04054142"}}"#,
                ["0e33010300"]
            ),
            (
                #"{"op": "read_by_type", "uuid": "b004", "start": 1, "end": 65535}"#,
                #"{"result":{"att_error":0,"value":"0405"}}"#, ["080100ffff04b0", "083401ffff04b0"]
            ),
            (
                #"{"op": "read_by_type", "uuid": "b009", "start": 1, "end": 65535}"#,
                #"{"result":{"att_error":10}}"#, ["080100ffff09b0"]
            ),
            (#"{"op": "write", "handle": 307, "value": "09"}"#, #"{"result":{"att_error":0}}"#, ["12330109"]),
            (
                #"{"op": "write_long", "handle": 307, "value": "0a0b"}"#, #"{"result":{"att_error":0}}"#,
                ["16330100000a0b", "1801"]
            ),
            (
                #"{"op": "write_reliable", "handle": 301, "value": "0a"}"#, #"{"result":{"att_error":3}}"#,
                ["162d0100000a", "1800"]
            ),
            (#"{"op": "write_cmd", "handle": 307, "value": "0c"}"#, #"{"result":{"att_error":0}}"#, ["5233010c"]),
            (
                #"{"op": "discover_primary", "start": 1, "end": 65535, "uuid": "180a"}"#,
                #"{"result":{"att_error":0,"services":[]}}"#, ["060100ffff00280a18"]
            ),
            (
                #"{"op": "discover_included", "start": 256, "end": 511}"#,
                #"{"result":{"att_error":0,"services":[{"end":15,"primary":false,"start":1,"uuid":"180a"}]}}"#,
                ["080001ff010228", "080201ff010228"]
            ),
            (
                #"{"op": "discover_descriptors", "start": 4, "end": 4}"#,
                #"{"result":{"att_error":0,"descriptors":[{"handle":4,"uuid":"2902"}]}}"#, ["0404000400"]
            ),
            (#"{"op": "subscribe_notify", "handle": 3}"#, #"{"result":{"att_error":0}}"#, ["1204000100"]),
            (#"{"op": "subscribe_indicate", "handle": 3}"#, #"{"result":{"att_error":0}}"#, ["1204000200"]),
        ]
    )
    func operations(operation: String, result: String, packets: [String]) throws {
        var pair = try Pair(client: Self.client, server: AttributeCases.permissions)
        #expect(try pair.ask(operation) == [result])
        #expect(pair.sent == packets)
    }

    @Test("The client prints each value it is subscribed to, and confirms indications")
    func values() throws {
        var pair = try Pair(client: Self.client, server: AttributeCases.permissions)
        _ = try pair.ask(#"{"op": "subscribe_notify", "handle": 3}"#)
        pair.lines = []
        pair.sent = []
        for operation in ["send_notification", "send_indication"] {
            let line = #"{"do": {"op": "\#(operation)", "handle": 3, "value": "07"}}"#
            try pair.server.receive(line: line, at: Instant())
            pair.settle()
        }
        #expect(pair.lines == Array(repeating: #"{"notified":{"handle":3,"value":"07"}}"#, count: 2))
        #expect(pair.sent == ["1e"])
    }

    @Test("The client starts immediately when the context is only the protocol")
    func atOnce() throws {
        let json = """
            {"mtu": 512, "context": "att", "database": null,
             "operation": {"op": "discover_characteristics", "start": 16, "end": 31}}
            """
        let pair = try Pair(client: json, server: AttributeCases.battery)
        #expect(pair.sent == ["020002", "0810001f000328", "0812001f000328"])
        #expect(
            pair.lines == [
                #"{"result":{"att_error":0,"characteristics":[{"properties":18,"uuid":"2a19","value_handle":20}]}}"#
            ]
        )
    }

    @Test(
        "The client gives up on a request that is not answered within 30 s",
        arguments: [#"{"op": "read", "handle": 20}"#, #"{"op": "read_multiple", "handles": [20, 21]}"#]
    )
    func timeout(operation: String) throws {
        var pair = try Pair(client: Self.client, server: AttributeCases.battery)
        try pair.client.receive(line: #"{"do": \#(operation)}"#, at: Instant())
        while pair.client.next() != nil {}
        #expect(pair.client.deadline == Instant() + .seconds(30))
        pair.client.receive(packet: [0x1D, 0x14, 0x00, 0x5B], at: Instant() + .seconds(20))
        #expect(pair.client.next() == .packet([0x1E]))
        pair.client.wake(at: Instant() + .milliseconds(29_999))
        #expect(pair.client.next() == nil)
        pair.client.wake(at: Instant() + .seconds(30))
        #expect(pair.client.next() == .line(#"{"result":{"att_error":14}}"#))
        try pair.client.receive(line: #"{"do": \#(operation)}"#, at: Instant() + .seconds(31))
        #expect(pair.client.next() == .line(#"{"result":{"att_error":14}}"#))
        #expect(pair.client.next() == nil)
    }

    @Test(
        "The client sends no request to a server that does not answer the MTU exchange",
        arguments: ["client", "att"]
    )
    func silence(context: String) throws {
        let json = #"{"mtu": 64, "context": "\#(context)", "operation": {"op": "read", "handle": 3}}"#
        var client = try AttributeClientDriver(AttributeCase(json: json), at: Instant())
        #expect(client.next() == .packet([0x02, 0x40, 0x00]))
        client.wake(at: Instant() + .seconds(29))
        client.wake(at: Instant() + .seconds(30))
        #expect(client.next() == nil)
        #expect(client.deadline == nil)
    }

    @Test("The client sends no requests of its own, however long it is idle")
    func patience() throws {
        var pair = try Pair(client: Self.client, server: AttributeCases.battery)
        #expect(pair.client.deadline == nil)
        pair.client.wake(at: Instant() + .seconds(3600))
        #expect(pair.client.next() == nil)
    }
}
