/// A way to a controller, which carries H4 packets both ways.
///
/// A transport belongs to one loop: all its methods are called on its thread, and it calls its client there. It
/// connects again by itself when the connection is lost, for as long as it is not stopped.
package protocol Transport: AnyObject, Sendable {
    /// What to call this way in log lines, such as `tcp:127.0.0.1:6402`.
    var name: String { get }

    /// Starts to connect. `client` is held weakly.
    func start(for client: any TransportClient, on loop: EventLoop)

    /// Sends whole packets with one write, as far as the system takes them; the rest follows.
    ///
    /// What is sent while there is no connection is lost.
    func send(_ packets: Span<UInt8>)

    /// Reads no more until ``resume()``, so that a controller with flow control slows down.
    func pause()

    func resume()

    /// Drops the connection and makes a new one.
    func reset()

    /// Drops the connection for good.
    func stop()
}

/// Whoever hears what a transport brings.
///
/// Every call is on the thread of the transport's loop.
package protocol TransportClient: AnyObject, Sendable {
    /// There is a connection now; everything before is forgotten.
    func transportOpened()

    /// The connection is gone, and is being made again.
    func transportClosed(_ error: TransportError)

    /// There has not been a controller for a while, or never was one; what connection there was is gone. It is still
    /// being tried.
    func transportAbsent(_ error: TransportError)

    /// Octets arrived: any number of packets, and pieces of them.
    ///
    /// - Throws: What is wrong with them, upon which the connection is dropped and made again.
    func transportReceived(_ chunk: Span<UInt8>) throws(TransportError)
}
