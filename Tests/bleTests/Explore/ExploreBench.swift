import BLEExplain
import BLESimulation
import CoreBluetooth
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import ble

/// The server of `ble explore` on a phone in a world that runs in real time, with the lamp of ``SessionBench``.
@MainActor
final class ExploreBench {
    let world: World
    let feed: ExploreFeed
    let server: ExploreServer
    private let engine: SessionEngine
    private let lamp: DescribedPeripheral
    private let serving: Task<Void, Never>
    private var asked = 0

    init(seed: UInt64 = 1) async throws {
        let world = World(seed: seed, conditions: .init(loss: 0.1))
        self.world = world
        let phone = world.machine("phone"), sensor = world.machine("sensor", at: .init(x: 2))
        let device = try JSONDecoder().decode(SimulatedPeripheral.self, from: Data(SessionBench.lamp.utf8))
        lamp = sensor.inhabit { DescribedPeripheral(PeripheralDescription(device), clock: world.clock) { _ in } }
        let feed = ExploreFeed(from: WorldRecording(of: world))
        self.feed = feed
        let engine = phone.inhabit { SessionEngine(clock: world.clock) { feed.add($0) } }
        self.engine = engine
        world.runInRealTime()
        try await phone.inhabit { Task { try await engine.start() } }.value
        let page = ExplainPage(liveWithTitle: "Test", isWorld: true)
        // A busy machine may let a connection rest for minutes.
        server = try await ExploreServer(
            on: "127.0.0.1",
            port: 0,
            page: page,
            engine: engine,
            feed: feed,
            idleTime: .hours(1)
        )
        let server = server
        // Tasks of the server create managers when they connect, so they belong to the phone as well.
        serving = phone.inhabit { Task { await server.run() } }
    }

    func end() async {
        await engine.close(because: .interrupted)
        await server.close()
        serving.cancel()
        await serving.value
        lamp.stop()
    }

    /// The path of a resource.
    func path(_ resource: String) -> String { "/\(server.access.token)/\(resource)" }

    /// Sends octets as they are, and returns the response as text when the server has closed the connection.
    func exchange(_ request: String) async throws -> String {
        let connection = try await Self.connect(to: server.port) { channel in
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
        return try await connection.executeThenClose { responses, requests in
            // A server that refuses a request may close the connection before all of it was written.
            try? await requests.write(ByteBuffer(string: request))
            var text = ""
            do {
                for try await part in responses { text += String(buffer: part) }
            } catch is IOError {}
            return text
        }
    }

    /// Returns the head of a request with the header fields that a browser sends.
    func head(_ method: String, _ resource: String, _ fields: [String] = [], host: String? = nil) -> String {
        let host = "Host: \(host ?? "127.0.0.1:\(server.port)")"
        let lines = ["\(method) \(path(resource)) HTTP/1.1", host, "Connection: close"] + fields
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// Posts a command, and returns its identifier.
    func post(_ command: String, _ rest: String = "") async throws -> Int {
        asked += 1
        let body = #"{"id": \#(asked), "command": "\#(command)"\#(rest.isEmpty ? "" : ", " + rest)}"#
        let fields = ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
        let response = try await exchange(head("POST", "commands", fields) + body)
        #expect(response.hasPrefix("HTTP/1.1 202 "), "\(response)")
        return asked
    }

    /// Opens the stream of events, and passes a reader of it to `work`.
    func withEvents<Result: Sendable>(
        _ work: @MainActor (EventReader) async throws -> Result
    ) async throws -> Result {
        let connection = try await Self.connect(to: server.port) { channel in
            try channel.pipeline.syncOperations.addHTTPClientHandlers()
            return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                wrappingChannelSynchronously: channel
            )
        }
        let head = HTTPRequestHead(
            version: .http1_1,
            method: .GET,
            uri: path("events"),
            headers: ["Host": "127.0.0.1:\(server.port)"]
        )
        return try await connection.executeThenClose { responses, requests in
            // The head alone is the whole request, so the server may close the connection after it.
            try await requests.write(contentsOf: [.head(head), .end(nil)])
            return try await work(EventReader(responses))
        }
    }

    private nonisolated static func connect<Connection: Sendable>(
        to port: Int,
        _ wrap: @escaping @Sendable (any NIOCore.Channel) throws -> Connection
    ) async throws -> Connection {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(host: "127.0.0.1", port: port) {
            channel in
            channel.eventLoop.makeCompletedFuture { try wrap(channel) }
        }
    }
}

/// A reader of server-sent events.
@MainActor
final class EventReader {
    private var iterator: NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
    private var text = ""
    /// The texts in the parts of the timeline so far.
    private(set) var texts: Set<String> = []
    /// The status of the response, once there is a message.
    private(set) var status: UInt?

    init(_ responses: NIOAsyncChannelInboundStream<HTTPClientResponsePart>) {
        iterator = responses.makeAsyncIterator()
    }

    /// Returns the next message: its type, and its data; `nil` at the end of the stream.
    func next() async throws -> (type: String, data: [String: Any])? {
        while true {
            while let end = text.range(of: "\n\n") {
                let lines = text[..<end.lowerBound].split(separator: "\n")
                text.removeSubrange(..<end.upperBound)
                guard lines.count == 2, lines[0].hasPrefix("event: "), lines[1].hasPrefix("data: ") else { continue }
                let data = Data(lines[1].dropFirst(6).utf8)
                let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
                texts.formUnion(object?["strings"] as? [String] ?? [])
                return (String(lines[0].dropFirst(7)), try #require(object))
            }
            var iterator = iterator
            let part = try await iterator.next(isolation: #isolation)
            self.iterator = iterator
            switch part {
            case .head(let head)?: status = head.status.code
            case .body(let buffer)?: text += String(buffer: buffer)
            case .end?, nil: return nil
            }
        }
    }

    /// Waits for a message of a type for which `isWanted` returns true.
    func wait(_ type: String, for isWanted: ([String: Any]) -> Bool = { _ in true }) async throws -> [String: Any] {
        while let message = try await next() { if message.type == type, isWanted(message.data) { return message.data } }
        Issue.record("the stream ended before “\(type)”")
        return [:]
    }

    /// Waits for the answer to a command, which must have succeeded.
    func answer(to id: Int) async throws -> [String: Any] {
        let line = try await wait("line") { $0["id"] as? Int == id }
        #expect(line["event"] as? String == "done", "\(line)")
        return line
    }
}
