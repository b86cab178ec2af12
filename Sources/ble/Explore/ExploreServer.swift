import BLEExplain
import BLERuntime
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// The web server of `ble explore`: one page, the messages for it, and the commands of a session.
///
/// | resource | what it is |
/// | --- | --- |
/// | `GET /TOKEN/` | the page |
/// | `GET /TOKEN/events` | server-sent events: lines of the session and parts of the timeline |
/// | `POST /TOKEN/commands` | one command of the session; its answer is among the events |
///
/// Each connection has a task, which reads and writes no faster than its peer. The number of connections, the sizes of
/// requests and the time without traffic are limited.
final class ExploreServer: Sendable {
    /// The maximum number of connections; further ones are closed.
    static let mostConnections = 32
    /// The maximum number of browsers that receive events; further ones are refused.
    static let mostReaders = 8
    /// The maximum length of all header fields of a request in octets.
    static let mostHeaderOctets = 16 << 10
    /// The interval at which the feed takes new events from the recording.
    private static let tick = Duration.milliseconds(100)

    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
    private typealias Listener = NIOAsyncChannel<any NIOCore.Channel, Never>

    /// The number of connections, and the number of browsers that receive events.
    private struct Counts {
        var connections = 0
        var readers = 0
    }

    /// The rules by which requests are accepted.
    let access: ExploreAccess
    /// The TCP port that the server listens on.
    let port: Int
    private let listener: Listener
    private let engine: SessionEngine
    private let feed: ExploreFeed
    private let html: String
    private let counts = Locked(Counts())

    /// Starts to listen; call ``run()`` to serve.
    ///
    /// - Parameters:
    ///   - address: The numeric IP address to listen on.
    ///   - port: The TCP port; 0 to let the system choose one.
    ///   - page: The page to serve.
    ///   - engine: The engine that performs commands.
    ///   - feed: The feed to which the engine's lines are added.
    ///   - idleTime: The time without traffic after which a connection is closed.
    /// - Throws: ``CommandError/cannotListen(_:_:)`` if it is not possible to listen on the address.
    @MainActor
    init(
        on address: String,
        port: Int,
        page: ExplainPage,
        engine: SessionEngine,
        feed: ExploreFeed,
        idleTime: TimeAmount = .seconds(60)
    ) async throws(CommandError) {
        do {
            listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                // Nothing is read before a task serves the connection.
                .childChannelOption(.autoRead, value: false)
                .bind(host: address, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try Self.configure(channel, idleTime: idleTime)
                        return channel
                    }
                }
        } catch {
            let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw .cannotListen("\(ExploreAccess.host(of: address)):\(port)", reason)
        }
        self.port = listener.channel.localAddress?.port ?? port
        access = ExploreAccess(token: ExploreAccess.makeToken(), address: address, port: self.port)
        (self.engine, self.feed) = (engine, feed)
        html = page.html
    }

    private static func configure(_ channel: any NIOCore.Channel, idleTime: TimeAmount) throws {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = mostHeaderOctets
        limits.maxHeaderListSize = mostHeaderOctets
        limits.maxHeaderFieldCount = 100
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([IdleStateHandler(allTimeout: idleTime), IdleConnectionCloser()])
        try pipeline.configureHTTPServerPipeline(
            withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: limits
        )
    }

    /// Serves connections until the task is cancelled; call ``close()`` before cancelling it.
    @MainActor
    func run() async {
        let ticks = Task {
            while !feed.isClosed {
                feed.tick()
                try await Task.sleep(for: Self.tick)
            }
        }
        try? await acceptConnections()
        ticks.cancel()
    }

    /// Ends the feed, and waits at most a second until browsers have received the remaining messages.
    @MainActor
    func close() async {
        feed.close()
        for _ in 0..<20 where counts.withLock({ $0.readers }) > 0 { try? await Task.sleep(for: .milliseconds(50)) }
    }

    private nonisolated func acceptConnections() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            try await listener.executeThenClose { channels in
                for try await channel in channels {
                    group.addTask { try? await self.serve(channel) }
                }
            }
        }
    }

    /// Serves a connection, or closes it if there are too many.
    private nonisolated func serve(_ channel: any NIOCore.Channel) async throws {
        let count = counts.withLock { counts in
            counts.connections += 1
            return counts.connections
        }
        defer { counts.withLock { $0.connections -= 1 } }
        guard count <= Self.mostConnections else { return try await channel.close() }
        let connection = try await channel.eventLoop.submit {
            try Connection(wrappingChannelSynchronously: channel)
        }.get()
        try await connection.executeThenClose { requests, responses in
            try await channel.setOption(.autoRead, value: true).get()
            try await self.serve(channel, requests, responses)
        }
    }

    /// Serves the requests of one connection.
    private nonisolated func serve(
        _ channel: any NIOCore.Channel,
        _ requests: NIOAsyncChannelInboundStream<HTTPServerRequestPart>,
        _ responses: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    ) async throws {
        var route = ExploreAccess.Route.page, keepsAlive = false, body: [UInt8] = []
        for try await part in requests {
            switch part {
            case .head(let head):
                do throws(ExploreAccess.Refusal) {
                    route = try access.route(ExploreAccess.Request(head))
                } catch {
                    return try await write(error.status, error.sentence, to: responses)
                }
                (keepsAlive, body) = (head.isKeepAlive, [])
            case .body(let buffer):
                guard body.count + buffer.readableBytes <= SessionCommand.mostOctets else {
                    return try await write(413, "\(SessionCommand.tooLong.reason)", to: responses)
                }
                body += buffer.readableBytesView
            case .end:
                switch route {
                case .page: try await write(200, html, type: "text/html; charset=utf-8", keepsAlive, to: responses)
                case .events: return try await writeEvents(to: responses, of: channel)
                case .commands:
                    await engine.take(String(decoding: body, as: UTF8.self))
                    try await write(202, "", keepsAlive, to: responses)
                }
                guard keepsAlive else { return }
            }
        }
    }

    /// Sends messages until the browser or the server closes the connection.
    private nonisolated func writeEvents(
        to responses: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>,
        of channel: any NIOCore.Channel
    ) async throws {
        let isAdmitted = counts.withLock { counts in
            guard counts.readers < Self.mostReaders else { return false }
            counts.readers += 1
            return true
        }
        guard isAdmitted else {
            let problem = "\(Self.mostReaders) browser tabs already show this page, which is the limit."
            let sentence = problem + " Close one of them, and reload."
            return try await write(503, sentence, to: responses)
        }
        defer { counts.withLock { $0.readers -= 1 } }
        try await responses.write(.head(Self.head(200, "text/event-stream", length: nil, keepsAlive: true)))
        let reader = await feed.makeReader(), feed = feed
        channel.closeFuture.whenComplete { _ in Task { @MainActor in feed.removeReader(reader) } }
        while let frames = await feed.next(for: reader) {
            try await responses.write(.body(.byteBuffer(ByteBuffer(string: frames))))
        }
        try await responses.write(.end(nil))
    }

    /// Sends a complete response, with `text` as its body.
    private nonisolated func write(
        _ status: Int,
        _ text: String,
        type: String = "text/plain; charset=utf-8",
        _ keepsAlive: Bool = false,
        to responses: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
    ) async throws {
        let body = ByteBuffer(string: text)
        try await responses.write(.head(Self.head(status, type, length: body.readableBytes, keepsAlive: keepsAlive)))
        try await responses.write(.body(.byteBuffer(body)))
        try await responses.write(.end(nil))
    }

    private static func head(_ status: Int, _ type: String, length: Int?, keepsAlive: Bool) -> HTTPResponseHead {
        var headers: HTTPHeaders = [
            "Content-Type": type, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
            "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
        ]
        if let length { headers.add(name: "Content-Length", value: "\(length)") }
        if !keepsAlive { headers.add(name: "Connection", value: "close") }
        return HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
    }
}

extension ExploreAccess.Request {
    fileprivate init(_ head: HTTPRequestHead) {
        self.init(
            method: head.method.rawValue,
            target: head.uri,
            hosts: head.headers["Host"],
            origins: head.headers["Origin"],
            sites: head.headers["Sec-Fetch-Site"],
            contentTypes: head.headers["Content-Type"]
        )
    }
}

/// A handler that closes a connection when nothing has been received or sent for a while.
private final class IdleConnectionCloser: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
