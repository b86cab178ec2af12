/// A bidirectional path for H4 packets to a controller.
///
/// A transport belongs to one loop: all of its methods are called on that thread, and it calls its client there. It
/// reconnects until it is stopped.
package protocol Transport: AnyObject, Sendable {
    /// The name in log lines, such as `tcp:127.0.0.1:6402`.
    var name: String { get }

    /// Starts to connect. `client` is referenced weakly.
    func start(for client: any TransportClient, on loop: EventLoop)

    /// Sends packets with one write, as far as the system accepts them; the rest follows.
    ///
    /// Packets are lost while there is no connection.
    func send(_ packets: Span<UInt8>)

    /// Stops reading until ``resume()``, so that a controller with flow control slows down.
    func pause()

    func resume()

    /// Drops the connection and makes a new one.
    func reset()

    /// Drops the connection permanently.
    func stop()
}

/// The receiver of a transport's events.
///
/// All calls are on the thread of the transport's loop.
package protocol TransportClient: AnyObject, Sendable {
    /// There is a new connection. Everything before it is void.
    func transportOpened()

    /// The connection was lost and is being re-established.
    func transportClosed(_ error: TransportError)

    /// There is no controller, or none any more. Attempts continue.
    func transportAbsent(_ error: TransportError)

    /// Octets were received: any number of packets and parts.
    ///
    /// - Throws: An error about the octets, after which the connection is made again.
    func transportReceived(_ chunk: Span<UInt8>) throws(TransportError)
}
