import BLEWire
import Testing

@testable import BLEConformance

@Suite("smp")
struct PairingDriverTests {
    /// Two drivers at the ends of one link, and what each prints.
    struct Link {
        var ends: [PairingDriver]
        var lines: [[String]] = [[], []]
        var packets: [[UInt8]] = []

        init(_ initiator: String, _ responder: String) throws {
            ends = try [initiator, responder].map { try PairingDriver(PairingCase(json: $0), at: Instant()) }
        }

        /// Lets both say all that they have to say.
        mutating func run() {
            var isQuiet = false
            while !isQuiet {
                isQuiet = true
                for end in [0, 1] {
                    while let output = ends[end].next() {
                        isQuiet = false
                        switch output {
                        case .line(let line): lines[end].append(line)
                        case .packet(let packet):
                            packets.append(packet)
                            ends[1 - end].receive(packet: packet, at: Instant())
                        }
                    }
                }
            }
        }

        mutating func encrypt() throws {
            for end in [1, 0] { try ends[end].receive(line: #"{"encrypted": true}"#, at: Instant()) }
            run()
        }
    }

    /// A case in which a device can do `io`, with more to say of it in `rest`.
    static func json(_ role: String, io: Int, _ rest: String = "") -> String {
        let addresses = [
            #"{"address": "c5c4c3c2c1c0", "address_type": 1}"#, #"{"address": "a5a4a3a2a1a0", "address_type": 0}"#,
        ]
        let (local, peer) = role == "initiator" ? (addresses[0], addresses[1]) : (addresses[1], addresses[0])
        return #"{"role": "\#(role)", "local": \#(local), "peer": \#(peer), "io_capability": \#(io), \#(rest)"#
            + #""irk": "000102030405060708090a0b0c0d0e0f", "ignored": true}"#
    }

    @Test(
        "Two drivers agree on a key",
        arguments: [
            (3, 3, "", "ltk", false), (1, 1, #""mitm": true, "#, "ltk", true),
            (0, 2, #""mitm": true, "passkey": "046128", "#, "ltk", true),
            (3, 3, #""secure_connections": false, "#, "stk", false),
            (2, 0, #""mitm": true, "passkey": "046128", "secure_connections": false, "#, "stk", true),
            (3, 3, #""secure_connections": false, "oob": "000102030405060708090a0b0c0d0e0f", "#, "stk", true),
        ] as [(Int, Int, String, String, Bool)]
    )
    func pairing(initiator: Int, responder: Int, rest: String, key: String, isAuthenticated: Bool) throws {
        let identities = [#""identity": {"address": "0100000000c0", "address_type": 1}, "#, ""]
        var link = try Link(
            Self.json("initiator", io: initiator, rest + identities[0]),
            Self.json("responder", io: responder, rest)
        )
        link.run()
        let known = link.lines.map { $0.last ?? "" }
        #expect(known[0] == known[1] && known[0].hasPrefix("{\"\(key)\":"))
        try link.encrypt()
        let paired = #"{"paired":{"authenticated":\#(isAuthenticated),"key_size":16}}"#
        #expect(link.lines.map(\.last) == [paired, paired])
        let numeric = link.lines.map { $0.first { $0.contains("numeric") } }
        #expect(numeric[0] == numeric[1] && (numeric[0] != nil) == (initiator == 1))
    }

    @Test("Given random numbers are used in the order they are needed, and generated ones after the last")
    func numbers() throws {
        let first = [UInt8](repeating: 0xAB, count: 16).hexadecimal, second = (UInt8(0)..<16).hexadecimal
        let rest = #""mitm": true, "passkey": "000000", "random": ["\#(first)", "\#(second)"], "#
        var link = try Link(
            Self.json("initiator", io: 0, rest),
            Self.json("responder", io: 2, rest.replacing("random", with: "x"))
        )
        link.run()
        let told = link.packets.filter { $0[0] == 0x04 }.enumerated().filter { $0.offset.isMultiple(of: 2) }
        #expect(told.count == 20)
        #expect(told.prefix(2).map { $0.element.dropFirst().hexadecimal } == [first, second])
    }

    @Test("A failure reports the reason that was sent, at both ends")
    func failure() throws {
        let rejects = #""mitm": true, "confirm_numeric": false, "#
        var link = try Link(Self.json("initiator", io: 1, rejects), Self.json("responder", io: 1, #""mitm": true, "#))
        link.run()
        #expect(link.lines.map(\.last) == [#"{"failed":12}"#, #"{"failed":12}"#])
        link = try Link(Self.json("initiator", io: 3, #""mitm": true, "#), Self.json("responder", io: 3))
        link.run()
        #expect(link.lines == [[#"{"failed":3}"#], [#"{"failed":3}"#]])
    }

    @Test("Without a given passkey, passkey entry fails")
    func noPasskey() throws {
        let mitm = #""mitm": true, "#
        var link = try Link(Self.json("initiator", io: 2, mitm), Self.json("responder", io: 2, mitm))
        link.run()
        #expect(link.lines.map(\.last) == [#"{"failed":1}"#, #"{"failed":1}"#])
    }

    @Test("Keys that arrive before the encrypted line count once the line arrives")
    func overtaking() throws {
        var link = try Link(Self.json("initiator", io: 3), Self.json("responder", io: 3))
        link.run()
        try link.ends[1].receive(line: #"{"encrypted": true}"#, at: Instant())
        link.run()
        #expect(link.lines[0].count == 1)
        try link.ends[0].receive(line: #"{"encrypted": true}"#, at: Instant())
        link.run()
        #expect(
            link.lines.map(\.last) == Array(repeating: #"{"paired":{"authenticated":false,"key_size":16}}"#, count: 2)
        )
    }

    @Test("Pairing fails after 30 s without a packet")
    func timeout() throws {
        var driver = try PairingDriver(PairingCase(json: Self.json("initiator", io: 3)), at: Instant())
        #expect(driver.next() != nil && driver.next() == nil)
        driver.wake(at: Instant() + .seconds(30))
        #expect(driver.next() == .line(#"{"failed":8}"#))
    }

    @Test(
        "An invalid case is refused",
        arguments: [
            ("initiator", "watcher"), ("\"io_capability\": 3", "\"io_capability\": 5"),
            ("c5c4c3c2c1c0", "c5c4"), ("\"address_type\": 1", "\"address_type\": 2"),
            ("\"ignored\"", "\"passkey\": \"1000000\", \"ignored\""),
            ("\"ignored\"", "\"max_key_size\": 6, \"ignored\""),
            ("\"ignored\"", "\"private_key\": \"00\", \"ignored\""), ("\"ignored\"", "\"oob\": \"00\", \"ignored\""),
            ("\"ignored\"", "\"ediv\": 65536, \"ignored\""), ("000102", "0x0102"),
        ]
    )
    func senseless(old: String, new: String) throws {
        let sensible = Self.json("initiator", io: 3)
        _ = try PairingDriver(PairingCase(json: sensible), at: Instant())
        #expect(throws: (any Error).self) {
            try PairingDriver(PairingCase(json: sensible.replacing(old, with: new)), at: Instant())
        }
    }

    @Test("An invalid line is refused", arguments: [#"{"encrypted": false}"#, "{}", "x"])
    func senselessLine(line: String) throws {
        var driver = try PairingDriver(PairingCase(json: Self.json("initiator", io: 3)), at: Instant())
        #expect(throws: InvalidInput.self) { try driver.receive(line: line, at: Instant()) }
    }
}
