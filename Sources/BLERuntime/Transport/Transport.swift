/// A path to a controller that carries H4 packets in both directions.
///
/// A transport belongs to one loop: all of its methods must be called on that loop's thread, and it calls its client
/// there. It reconnects until it is stopped.
package protocol Transport: AnyObject, Sendable {
    /// The name of the transport in log lines, such as `tcp:127.0.0.1:6402`.
    var name: String { get }

    /// Starts to connect. The transport references `client` weakly.
    func start(for client: any TransportClient, on loop: EventLoop)

    /// Sends packets with one write. What the system does not accept is queued and sent later.
    ///
    /// While there is no connection, packets are dropped.
    func send(_ packets: Span<UInt8>)

    /// Stops reading until ``resume()`` is called, so that a controller with flow control slows down.
    func pause()

    func resume()

    /// Closes the connection and makes a new one.
    func reset()

    /// Closes the connection and stops reconnecting.
    func stop()
}

/// The receiver of a transport's events.
///
/// All methods are called on the thread of the transport's loop.
package protocol TransportClient: AnyObject, Sendable {
    /// There is a new connection. The controller knows nothing of what was sent before.
    func transportOpened()

    /// The connection was lost and is being re-established.
    func transportClosed(_ error: TransportError)

    /// There is no controller, or it has disappeared. The transport keeps trying to connect.
    func transportAbsent(_ error: TransportError)

    /// Octets have been received: any number of whole packets and parts of packets.
    ///
    /// - Throws: An error if the octets are invalid; the transport then closes the connection and makes a new one.
    func transportReceived(_ chunk: Span<UInt8>) throws(TransportError)
}
