import BLERuntime
import BLESession
import BLEWire

/// The part of the daemon that accepts connections.
///
/// It has a thread of its own, and passes on the connections that may be served under the rate limit.
///
/// Even if one user's programs connect very fast, the thread that serves apps gets only a limited number of their
/// connections. Programs of other users wait only until excess connections have been refused.
///
/// Sendable because everything except `listen` and ``stop()`` happens on the thread of its loop.
final class ConnectionAcceptor: @unchecked Sendable {
    private let loop = EventLoop("bled-accept")
    private var limiter: AcceptRateLimiter<FileDescriptor>
    private let serve: @Sendable (FileDescriptor) -> Void
    private let refused: @Sendable (Refusal, SocketPeer?) -> Void
    private var listener: SocketListener?
    /// Fires when the next waiting connection can be served.
    private var alarm: LoopAlarm?

    /// Creates an acceptor that does not listen yet.
    ///
    /// - Parameters:
    ///   - limiter: Limits how fast each user's connections are served.
    ///   - serve: Called on the acceptor's thread with each connection to serve.
    ///   - refused: Called on the acceptor's thread when a user's connection is refused, but only for the first of a
    ///     series: see ``AcceptRateLimiter/OnAccept/refuse(_:isFirst:)``.
    init(
        _ limiter: AcceptRateLimiter<FileDescriptor>,
        serve: @escaping @Sendable (FileDescriptor) -> Void,
        refused: @escaping @Sendable (Refusal, SocketPeer?) -> Void
    ) {
        self.limiter = limiter
        self.serve = serve
        self.refused = refused
        loop.start()
    }

    /// Starts to listen at a path at which no other user can replace the socket.
    func listen(at place: TrustedPath) throws(TransportError) {
        let result: Result<Void, TransportError> = loop.sync { [self] in
            Result { () throws(TransportError) in
                listener = try SocketListener(at: place, on: loop) { [weak self] (connection: FileDescriptor) in
                    self?.accept(connection)
                }
            }
        }
        try result.get()
    }

    /// Starts to listen on a socket that already exists.
    func listen(adopting descriptor: FileDescriptor) {
        loop.sync { [self] in
            listener = SocketListener(adopting: descriptor, on: loop) { [weak self] in self?.accept($0) }
        }
    }

    /// Stops listening, and drops the waiting connections.
    func stop() {
        loop.sync { [self] in
            listener?.close()
            listener = nil
            alarm?.cancel()
            alarm = nil
            limiter.removeAll()
        }
    }

    /// Serves a new connection, lets it wait, or refuses it, as the rate limit requires.
    private func accept(_ connection: FileDescriptor) {
        let peer = connection.peer
        switch limiter.accept(connection, of: peer?.user, at: loop.clock.now) {
        case .serve(let connection): serve(connection)
        case .wait: if alarm == nil { awaitNext() }
        case .refuse(let connection, let isFirst):
            let refusal = Refusal(.tooMany, "too many connections per second from this user")
            connection.sendRefusal(refusal)
            if isFirst { refused(refusal, peer) }
        }
    }

    /// Sets an alarm that serves waiting connections when they are due.
    private func awaitNext() {
        alarm = limiter.deadline.map { deadline in
            loop.alarm(at: deadline) { [weak self] in
                guard let self else { return }
                for connection in limiter.takeDue(at: loop.clock.now) { serve(connection) }
                awaitNext()
            }
        }
    }
}

extension FileDescriptor {
    /// Sends the reason why a connection is not served, or as much of it as the system accepts without blocking.
    func sendRefusal(_ refusal: Refusal) {
        var writer = FrameWriter(), octets: [UInt8] = []
        _ = writer.write(DaemonMessage.refused(refusal))
        writer.take { octets = [UInt8](copying: $0) }
        send(octets)
    }
}
