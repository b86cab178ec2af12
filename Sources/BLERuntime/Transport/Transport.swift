/// A connection that carries H4 packets to and from a controller.
///
/// A transport belongs to one loop: all of its methods must be called on that loop's thread, and it calls its client
/// there. It reconnects until it is stopped.
package protocol Transport: AnyObject, Sendable {
    /// The name of the transport in log lines, such as `tcp:127.0.0.1:6402`.
    var name: String { get }

    /// Starts to connect; the transport references `client` weakly.
    func start(for client: any TransportClient, on loop: EventLoop)

    /// Sends packets with one write.
    ///
    /// Octets that the system does not accept are queued and sent later. While there is no connection, packets are
    /// dropped.
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
    /// Called when the transport has connected to a controller.
    ///
    /// The controller may not have received anything that was sent before.
    func transportOpened()

    /// Called when the connection was lost; the transport reconnects.
    func transportClosed(_ error: TransportError)

    /// Called when there is no controller, or the controller has disappeared; the transport keeps trying to connect.
    func transportAbsent(_ error: TransportError)

    /// Called with received octets, which contain any number of whole packets and parts of packets.
    ///
    /// - Throws: An error if the octets are invalid; the transport then closes the connection and makes a new one.
    func transportReceived(_ chunk: Span<UInt8>) throws(TransportError)
}
