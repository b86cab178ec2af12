import BLEExplain
import BLERuntime
import BLEWire
import Testing

@Suite struct PageTests {
    private static func data(_ channel: UInt8, _ payload: [UInt8], handle: UInt8 = 1) -> [UInt8] {
        [2, handle, 0x20, UInt8(payload.count + 4), 0, UInt8(payload.count), 0, channel, 0] + payload
    }

    private static func record(_ bytes: [UInt8], _ direction: PacketRecord.Direction = .toHost) -> PacketRecord {
        PacketRecord(machine: "hci0", direction: direction, time: Instant(nanoseconds: 5), bytes: bytes)
    }

    @Test(
        "A text from the air does not end the script element",
        arguments: ["</script><script>alert(1)</script>", "<!--", "\u{2028}", "\"]};alert(1)//", "&lt;/script&gt;"]
    )
    func harmless(_ name: String) {
        var builder = TimelineBuilder()
        builder.add(text: "app 1 receives: didDiscover X (\(name))", of: PacketSource(machine: name), at: Instant())
        let html = ExplainPage(builder.finish(), title: name).html
        #expect(html.components(of: "</script>") == 2)
        #expect(html.components(of: "<script") == 2)
        #expect(!html.contains("<!--") && !html.contains("\u{2028}"))
    }

    private static let key = [UInt8](repeating: 0xA7, count: 16)

    @Test(
        "Keys are left out unless they are asked for",
        arguments: [
            data(6, [0x06] + key), data(6, [0x08] + key), data(6, [0x0A] + key), data(6, [0x03] + key),
            data(6, [0x04] + key),
            [1, 0x19, 0x20, 28, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9] + key, [1, 0x1A, 0x20, 18, 1, 0] + key,
            [1, 0x27, 0x20, 39, 0, 1, 2, 3, 4, 5, 6] + key + key, [1, 0x0B, 0x04, 22, 1, 2, 3, 4, 5, 6] + key,
            [4, 0x18, 23, 1, 2, 3, 4, 5, 6] + key + [4],
        ]
    )
    func keys(_ packet: [UInt8]) {
        for keeps in [false, true] {
            var builder = TimelineBuilder(keys: keeps)
            builder.add(Self.record(packet))
            let html = ExplainPage(builder.finish(), title: "keys").html
            #expect(html.contains("a7a7a7a7") == keeps)
            #expect(html.contains("left out to protect keys") != keeps)
        }
    }

    @Test("The end of a key in a second fragment is left out")
    func fragments() {
        let first: [UInt8] = [2, 1, 0x20, 9, 0, 17, 0, 6, 0, 6, 0xA7, 0xA7, 0xA7, 0xA7]
        let second: [UInt8] = [2, 1, 0x10, 12, 0] + [UInt8](repeating: 0xA7, count: 12)
        var builder = TimelineBuilder()
        for packet in [first, second] { builder.add(Self.record(packet)) }
        #expect(!ExplainPage(builder.finish(), title: "keys").html.contains("a7a7"))
    }

    @Test("Any octets make a page", arguments: 0..<16 as Range<UInt64>)
    func hostile(seed: UInt64) {
        var random = SeededGenerator(seed: seed), builder = TimelineBuilder()
        for _ in 0..<2_000 {
            var bytes = (0..<Int(random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if !bytes.isEmpty, random.next() % 4 > 0 { bytes[0] = UInt8(random.next() % 6) }
            let time = Instant(nanoseconds: Int64(bitPattern: random.next()))
            let direction: PacketRecord.Direction = random.next() % 2 == 0 ? .toHost : .toController
            builder.add(
                .init(
                    source: .init(machine: "x"),
                    direction: direction,
                    time: time,
                    bytes: bytes,
                    missing: Int(random.next() % 3)
                )
            )
        }
        let timeline = builder.finish()
        #expect(timeline.events.count >= 2_000)
        #expect(ExplainPage(timeline, title: "").html.hasSuffix("</html>\n"))
    }

    @Test("A request, its response and their packets share a group")
    func related() throws {
        var builder = TimelineBuilder()
        let source = PacketSource(machine: "hci0")
        builder.add(text: "app 1 requests: readValue AA 2A19", of: source, at: Instant())
        builder.add(Self.record(Self.data(4, [0x0A, 3, 0]), .toController))
        builder.add(Self.record(Self.data(4, [0x0B, 100])))
        builder.add(text: "app 1 receives: didUpdateValue AA 2A19 64", of: source, at: Instant(nanoseconds: 9))
        let events = builder.finish().events, group = try #require(events.first?.group)
        #expect(group != 0)
        #expect(events.filter { $0.group == group }.count == 6)
    }
}

extension String {
    /// The number of occurrences of a text.
    fileprivate func components(of text: String) -> Int {
        var count = 0, rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(text) { count += 1 }
            rest = rest.dropFirst()
        }
        return count
    }
}
