import BLERuntime
import BLESession
import BLEWire

/// Accepts connections on a thread of its own, and hands over those that are to be served.
///
/// However fast the programs of one user connect, the thread that serves apps is given only so many of them, and
/// programs of other users wait only until the others have been turned away.
///
/// Sendable because everything happens on the thread of its loop, except for ``stop()`` and to listen.
final class ConnectionAcceptor: @unchecked Sendable {
    private let loop = EventLoop("bled-accept")
    private var limiter: AcceptRateLimiter<FileDescriptor>
    private let serve: @Sendable (FileDescriptor) -> Void
    private let refused: @Sendable (Refusal, SocketPeer?) -> Void
    private var listener: SocketListener?
    /// Rings when the next connection that waits is to be served.
    private var alarm: LoopAlarm?

    /// Creates an acceptor that does not listen yet.
    ///
    /// - Parameters:
    ///   - limiter: Limits how many connections of each user are served.
    ///   - serve: Called on the acceptor's thread with each connection to serve.
    ///   - refused: Called there when the first one of a user is turned away since there was last room.
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

    /// Starts to listen, at a place that no other user can replace.
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

    /// Listens at a socket that exists.
    func listen(adopting descriptor: FileDescriptor) {
        loop.sync { [self] in
            listener = SocketListener(adopting: descriptor, on: loop) { [weak self] in self?.accept($0) }
        }
    }

    /// Listens no more, and forgets the connections that wait.
    func stop() {
        loop.sync { [self] in
            listener?.close()
            listener = nil
            alarm?.cancel()
            alarm = nil
            limiter.removeAll()
        }
    }

    /// Takes a new connection, which waits or is refused if many of the same user have come.
    private func accept(_ connection: FileDescriptor) {
        let peer = connection.peer
        switch limiter.accept(connection, of: peer?.user, at: loop.clock.now) {
        case .serve(let connection): serve(connection)
        case .wait: if alarm == nil { awaitNext() }
        case .refuse(let connection, let isFirst):
            let refusal = Refusal(.tooMany, "too many connections per second from this user")
            connection.turnAway(refusal)
            if isFirst { refused(refusal, peer) }
        }
    }

    /// Has connections that wait served when it is time.
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
    /// Says why a connection is not served, as far as the system takes it.
    func turnAway(_ refusal: Refusal) {
        var writer = FrameWriter(), octets: [UInt8] = []
        _ = writer.write(DaemonMessage.refused(refusal))
        writer.take { octets = [UInt8](copying: $0) }
        send(octets)
    }
}
