/// A port of this machine that a controller can be connected to.
package protocol ControllerPort: Sendable {
    /// The name of the port in log lines, such as `hci:0`.
    var name: String { get }

    /// Opens the port, which may take a few seconds.
    ///
    /// - Throws: The reason why there is no controller, with advice.
    func open() throws(TransportError) -> OpenPort

    /// Calls `changed` on the loop's thread when it may be worth trying to open the port again.
    ///
    /// - Returns: An object that stops the calls when it is released; `nil` if there will be no calls, so that the
    ///   caller must try again from time to time.
    func watch(on loop: EventLoop, changed: @escaping @Sendable () -> Void) -> (any Sendable)?
}

extension ControllerPort {
    package func watch(on loop: EventLoop, changed: @escaping @Sendable () -> Void) -> (any Sendable)? { nil }
}

/// An open port, with its framing.
package struct OpenPort: Sendable {
    let descriptor: FileDescriptor
    let framing: any PortFraming & Sendable
    /// Closes the port; called once, after the last read and write.
    let release: @Sendable () -> Void

    package init(
        _ descriptor: FileDescriptor,
        framing: any PortFraming & Sendable,
        release: @escaping @Sendable () -> Void = {}
    ) {
        self.descriptor = descriptor
        self.framing = framing
        self.release = release
    }

    init(_ lease: AdapterLease, framing: any PortFraming & Sendable) {
        self.init(lease.descriptor, framing: framing) { lease.release() }
    }
}

/// The framing of HCI packets on a port: a value that does no I/O itself.
package protocol PortFraming {
    /// Returns the octets to write when the port has been opened, before the host may send.
    mutating func begin() -> [[UInt8]]

    /// True if the host may send packets.
    var isReady: Bool { get }

    /// Frames packets for sending; each element of the result is one write.
    mutating func send(_ packets: Span<UInt8>) -> [[UInt8]]

    /// Processes the octets of one read, and passes the packets in them to the host.
    ///
    /// - Throws: ``TransportError/Code/garbage`` if the port must be reopened.
    mutating func receive(_ chunk: Span<UInt8>, packet: (Span<UInt8>) -> Void) throws(TransportError)

    /// The time without received octets after which ``expire(packet:)`` must be called; `nil` for no limit.
    var readTimeout: Duration? { get }

    /// Handles a read timeout (``readTimeout``), and passes waiting packets to the host.
    ///
    /// - Returns: The octets to write.
    /// - Throws: An error if the port must be reopened.
    mutating func expire(packet: (Span<UInt8>) -> Void) throws(TransportError) -> [[UInt8]]
}
