import BLEExplain
import BLERuntime
import BLEWire
import Testing

@Suite struct PacketFailureTests {
    /// Packets of a capture, and the rule that has to name their failure.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let rule: String?
        var says = ""
        /// The packets of a link; the first octet is the H4 type, and `nil` waits for a minute.
        let packets: @Sendable (UInt8) -> [[UInt8]?]
        var testDescription: String { name }
    }

    private static func connection(_ link: UInt8, status: UInt8 = 0) -> [UInt8] {
        [4, 0x3E, 19, 1, status, link, 0, 0, 0, 1, 2, 3, 4, 5, 6, 24, 0, 0, 0, 72, 0, 0]
    }

    private static func end(_ link: UInt8, _ reason: UInt8) -> [UInt8] { [4, 5, 4, 0, link, 0, reason] }

    private static func encryption(_ link: UInt8) -> [UInt8] { [4, 8, 4, 0, link, 0, 1] }

    /// A read request and the response that refuses it.
    private static func refusal(_ link: UInt8, _ code: UInt8) -> [[UInt8]] {
        [attribute(link, [0x0A, 3, 0]), attribute(link, [1, 0x0A, 3, 0, code])]
    }

    /// Bytes of ATT; the host is the client.
    private static func attribute(_ link: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let count = UInt8(payload.count)
        return [2, link, 0x20, count + 4, 0, count, 0, 4, 0] + payload
    }

    static let cases: [Case] = [
        Case(name: "a connection that is never established", rule: "not established", says: "connection intervals") {
            [connection($0), end($0, 0x3E)]
        },
        Case(name: "a connection that the controller refuses", rule: "not established", says: "could not connect") {
            [connection($0, status: 0x0D)]
        },
        Case(name: "devices with different keys", rule: "different keys", says: "different keys") {
            [connection($0), end($0, 0x3D)]
        },
        Case(name: "a peer whose link layer does not answer", rule: "link ended", says: "Read Request was waiting") {
            [connection($0), attribute($0, [0x0A, 3, 0]), end($0, 0x22)]
        },
        Case(name: "a peer that has lost its key", rule: "key missing", says: "no longer has the key") {
            [connection($0), [4, 8, 4, 6, $0, 0, 0]]
        },
        Case(name: "encryption that fails", rule: "key missing", says: "was not encrypted") {
            [connection($0), [4, 8, 4, 0x22, $0, 0, 0]]
        },
        Case(name: "a request without response", rule: "request without answer", says: "within 30 s") {
            [connection($0), attribute($0, [0x0A, 3, 0]), nil, end($0, 0x16)]
        },
        Case(name: "a value that needs encryption", rule: "request refused", says: "the link was not encrypted") {
            [connection($0)] + refusal($0, 0x05)
        },
        Case(name: "a key without authentication", rule: "request refused", says: "a pairing without authentication") {
            [connection($0), encryption($0)] + refusal($0, 0x05)
        },
        Case(name: "a short key", rule: "request refused", says: "its key is shorter than the server requires") {
            [connection($0), encryption($0)] + refusal($0, 0x0C)
        },
        Case(name: "a client without authorization", rule: "request refused", says: "has not authorized this client") {
            [connection($0), encryption($0)] + refusal($0, 0x08)
        },
        Case(name: "a device that is switched off", rule: "peer ended the link", says: "power off") {
            [connection($0), end($0, 0x15)]
        },
        Case(name: "a link that ends as planned", rule: nil) { [connection($0), end($0, 0x16)] },
        Case(name: "a link that the peer ends", rule: nil) { [connection($0), end($0, 0x13)] },
        Case(name: "a search that finds nothing", rule: nil) {
            [
                connection($0), attribute($0, [0x10, 1, 0, 255, 255, 0, 0x28]),
                attribute($0, [1, 0x10, 1, 0, 0x0A]), end($0, 0x13),
            ]
        },
    ]

    @Test("Each failure in a capture is named by its rule", arguments: cases, 0..<16 as Range<UInt64>)
    func named(_ test: Case, seed: UInt64) {
        var random = SeededGenerator(seed: seed), time = Int64(random.next() % 1_000_000_000)
        var builder = TimelineBuilder()
        for packet in test.packets(UInt8(1 + random.next() % 60)) {
            guard let packet else {
                time += 60_000_000_000
                continue
            }
            time += Int64(random.next() % 20_000_000)
            let isRequest = packet[0] == 2 && packet[9] & 1 == 0
            builder.add(
                PacketRecord(
                    machine: "hci0",
                    direction: isRequest ? .toController : .toHost,
                    time: Instant(nanoseconds: time),
                    bytes: packet
                )
            )
        }
        let findings = FailureRule.findings(in: builder.finish())
        #expect(findings.map(\.rule) == (test.rule.map { [$0] } ?? []), "\(findings.map(\.text))")
        #expect(findings.first?.text.lowercased().contains(test.says.lowercased()) != false, "\(findings.map(\.text))")
    }

    @Test(
        "A call without a callback is named after 35 s",
        arguments: [
            (call: "readValue AA 2A19", callback: "didUpdateValue AA 2A19 64"),
            (call: "writeValue AA 2A39 01", callback: "didWriteValue AA 2A39"),
            (call: "discoverServices AA", callback: "didDiscoverServices AA 180F"),
            (call: "startAdvertising Lamp [FFE0]", callback: "didStartAdvertising"),
            (call: "add FFE0 [FFE1]", callback: "didAdd FFE0"),
        ]
    )
    func unanswered(_ words: (call: String, callback: String)) {
        for (seconds, isAnswered, rules) in [
            (34, false, []), (35, false, ["call without callback"]), (60, true, []),
        ] as [(Int64, Bool, [String])] {
            var builder = TimelineBuilder()
            let source = PacketSource(machine: "hci0")
            builder.add(text: "app 1 requests: \(words.call)", of: source, at: Instant())
            if isAnswered { builder.add(text: "app 1 receives: \(words.callback)", of: source, at: Instant()) }
            builder.add(text: "later", of: source, at: Instant(nanoseconds: seconds * 1_000_000_000))
            #expect(FailureRule.findings(in: builder.finish()).map(\.rule) == rules)
        }
    }

    @Test("Ending a connection that does not exist is no failure")
    func nothingToCancel() {
        var builder = TimelineBuilder()
        let source = PacketSource(machine: "hci0")
        builder.add(text: "app 1 requests: cancelPeripheralConnection AA", of: source, at: Instant())
        builder.add(text: "later", of: source, at: Instant(nanoseconds: 60_000_000_000))
        #expect(FailureRule.findings(in: builder.finish()).isEmpty)
    }

    @Test("The search for failures ends at its limit, says so, and invents nothing")
    func limit() {
        var builder = TimelineBuilder()
        for number in 0..<2_000 {
            builder.add(
                PacketRecord(
                    machine: "hci0",
                    direction: .toController,
                    time: Instant(nanoseconds: Int64(number)),
                    bytes: Self.attribute(1, [0x0A, 3, 0])
                )
            )
        }
        let timeline = builder.finish()
        #expect(FailureRule.findings(in: timeline, steps: 100_000).map(\.rule) == ["limit"])
        #expect(FailureRule.findings(in: timeline).isEmpty)
    }
}
