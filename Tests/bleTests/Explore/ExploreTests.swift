import BLEExplain
import BLESimulation
import Testing

@testable import ble

@Suite("ble explore", .timeLimit(.minutes(30))) @MainActor
struct ExploreTests {
    @Test("The page is sent to those who have the token, and only they can use the server")
    func requests() async throws {
        let bench = try await ExploreBench()
        let page = try await bench.exchange(bench.head("GET", ""))
        #expect(page.hasPrefix("HTTP/1.1 200 ") && page.contains("</html>"))
        #expect(page.contains("Cache-Control: no-store") && page.contains("X-Frame-Options: DENY"))
        #expect(page.contains("connect-src 'self'"))
        let long = String(repeating: "a", count: SessionCommand.mostOctets + 1)
        let json = "Content-Type: application/json"
        let token = bench.server.access.token
        let wrongToken = bench.head("GET", "").replacing(token, with: String(repeating: "0", count: 32))
        let cases: [(String, Int)] = [
            (wrongToken, 403), (bench.head("GET", "", host: "evil.example:\(bench.server.port)"), 421),
            (bench.head("GET", "events", ["Origin: http://evil.example"]), 403),
            (bench.head("POST", "commands", [json, "Content-Length: \(long.utf8.count)"]) + long, 413),
            (bench.head("GET", "", ["X: \(String(repeating: "a", count: ExploreServer.mostHeaderOctets + 1))"]), 400),
            ("nonsense\r\n\r\n", 400),
        ]
        for (request, status) in cases {
            let response = try await bench.exchange(request)
            #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(request.prefix(120)): \(response.prefix(200))")
            #expect(!response.contains(token))
        }
        await bench.end()
    }

    @Test("A browser finds, connects, discovers, reads, writes and subscribes", arguments: 0..<16 as Range<UInt64>)
    func attributes(seed: UInt64) async throws {
        let bench = try await ExploreBench(seed: seed)
        try await bench.withEvents { events in
            let hello = try #require(try await events.next())
            #expect(hello.type == "hello" && hello.data["isScanning"] as? Bool == false && events.status == 200)
            _ = try await events.answer(to: try await bench.post("scan", #""services": ["FFA0"]"#))
            let found = try await events.wait("line") { $0["event"] as? String == "discovered" }
            let device = #""device": "\#(try #require(found["identifier"] as? String))""#
            _ = try await events.answer(to: try await bench.post("connect", device + #", "timeout": 600"#))
            let id = try await bench.post("discover", device)
            #expect(try await events.wait("names")["181A"] as? String == "Environmental Sensing")
            let services = try #require(try await events.answer(to: id)["services"] as? [[String: Any]])
            #expect(services.map { $0["uuid"] as? String } == ["FFA0", "181A"])
            let temperature = device + #", "characteristic": "2A6E""#
            let read = try await events.answer(to: try await bench.post("read", temperature))
            #expect(read["reading"] as? String == "21.60 °C")
            let written = device + #", "characteristic": "FFA1", "value": "22""#
            _ = try await events.answer(to: try await bench.post("write", written))
            _ = try await bench.post("subscribe", temperature)
            for value in ["0100", "0200", "0300"] {
                let line = try await events.wait("line") { $0["event"] as? String == "received" }
                #expect(line["value"] as? String == value)
            }
        }
        await bench.end()
    }

    @Test("A browser receives the events of the session, from the first one on, whenever it comes")
    func timeline() async throws {
        let bench = try await ExploreBench()
        try await bench.withEvents { events in
            let id = try await bench.post("connect", #""device": "Lamp", "timeout": 600"#)
            _ = try await events.answer(to: id)
            let read = try await bench.post("read", #""device": "Lamp", "characteristic": "2A6E""#)
            _ = try await events.answer(to: read)
            try await Self.waitForRead(in: events)
            try await bench.withEvents { other in
                let line = try await other.wait("line") { $0["event"] as? String == "connected" }
                #expect(line["name"] as? String == "Lamp")
                try await Self.waitForRead(in: other)
            }
        }
        await bench.end()
    }

    /// Waits until the timeline contains a read, from the call to the callback.
    private static func waitForRead(in events: EventReader) async throws {
        let expected: Set = ["connect", "readValue", "Read Request", "Read Response", "didUpdateValue"]
        while !events.texts.isSuperset(of: expected) { _ = try await events.wait("part") }
    }

    @Test("A browser that does not read costs no memory, and then learns how many messages it missed")
    func slowBrowser() async throws {
        let bench = try await ExploreBench()
        try await bench.withEvents { events in
            _ = try await events.wait("hello")
            // More than the sockets and the queue hold together.
            let text = String(repeating: "x", count: 4_000), count = 8 * ExploreFeed.mostOctets / 4_000
            for number in 1...count {
                bench.feed.add(Fact("received", ["count": number, "text": text], text: ""))
                #expect(bench.feed.octets <= ExploreFeed.mostOctets)
                if number % 100 == 0 { await Task.yield() }
            }
            var lost = 0, received = 0, latest: Int?
            while latest != count, let message = try await events.next() {
                let number = message.data["count"] as? Int
                if message.type == "lost" { lost += number ?? 0 }
                guard message.type == "line", let number else { continue }
                received += 1
                latest = number
            }
            #expect(lost > 0 && lost + received == count)
        }
        await bench.end()
    }

    @Test("The lines of the session are its tracks if the host of a daemon cannot be recorded")
    func linesAsTracks() throws {
        let recording = HostRecording(ofDaemonAt: "/nonexistent/bled")
        let keys: [String: Any] = ["command": "read", "name": "Lamp", "characteristic": "2A19"]
        recording.note(Fact("discovered", ["name": "Lamp", "rssi": -50], text: ""))
        recording.note(Fact("failed", keys.merging(["error": "Refused."]) { $1 }, text: ""))
        var live = LiveTimeline(), page = LivePage()
        let isNew = recording.record(to: &live), isExplained = live.explain()
        #expect(isNew && isExplained && live.count == 2)
        let next = page.part(of: live), part = try #require(next)
        for text in ["discovered", "failed", "read Lamp 2A19 error: Refused.", "RSSI, Lamp", "call failed"] {
            #expect(part.contains(text), "\(part)")
        }
    }

    @Test("A limited number of browsers receives events, and another one gets the place of one that has gone")
    func manyBrowsers() async throws {
        let bench = try await ExploreBench()
        try await Self.occupy(ExploreServer.mostReaders, on: bench)
        var status: UInt?
        while status != 200 {
            status = try await bench.withEvents { events in
                _ = try await events.next()
                return events.status
            }
        }
        await bench.end()
    }

    /// Opens streams of events, and checks that there cannot be one more.
    private static func occupy(_ count: Int, on bench: ExploreBench) async throws {
        try await bench.withEvents { events in
            let message = try await events.next()
            guard count > 0 else {
                #expect(message == nil && events.status == 503)
                return
            }
            #expect(message?.type == "hello")
            try await occupy(count - 1, on: bench)
        }
    }

    @Test("The end of the session is the last message")
    func end() async throws {
        let bench = try await ExploreBench()
        let last = try await bench.withEvents { events in
            _ = try await events.wait("hello")
            async let ended: Void = bench.end()
            let line = try await events.wait("line") { $0["event"] as? String == "ended" }
            while try await events.next() != nil {}
            await ended
            return line["reason"] as? String
        }
        #expect(last == "interrupted")
    }
}
