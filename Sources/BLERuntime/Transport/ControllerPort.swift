/// A place of this machine where a controller may be.
package protocol ControllerPort: Sendable {
    /// What to call it in log lines, such as `hci:0`.
    var name: String { get }

    /// Opens it, which may take a few seconds.
    ///
    /// - Throws: Why there is no controller, with the cure.
    func open() throws(TransportError) -> OpenPort

    /// Has `changed` called on the thread of `loop` when it may be worth opening the port again.
    ///
    /// - Returns: What ends that when it is released; `nil` if nothing tells, and one has to try now and then.
    func watch(on loop: EventLoop, changed: @escaping @Sendable () -> Void) -> (any Sendable)?
}

extension ControllerPort {
    package func watch(on loop: EventLoop, changed: @escaping @Sendable () -> Void) -> (any Sendable)? { nil }
}

/// A port that is open, and how HCI goes through it.
package struct OpenPort: Sendable {
    let descriptor: Descriptor
    let line: any Line & Sendable
    /// Gives the port back; called once, when nobody reads or writes any more.
    let release: @Sendable () -> Void

    package init(
        _ descriptor: Descriptor,
        line: any Line & Sendable,
        release: @escaping @Sendable () -> Void = {}
    ) {
        self.descriptor = descriptor
        self.line = line
        self.release = release
    }

    init(_ lease: AdapterLease, line: any Line & Sendable) {
        self.init(lease.descriptor, line: line) { lease.release() }
    }
}

/// How HCI packets become what is written to a port, and what is read becomes packets: a value that does no I/O.
package protocol Line {
    /// What there is to write when the port has been opened, before the host may speak.
    mutating func begin() -> [[UInt8]]

    /// Whether the host may speak.
    var isReady: Bool { get }

    /// Takes whole packets, and returns what to write; each element with one write.
    mutating func send(_ packets: Span<UInt8>) -> [[UInt8]]

    /// Takes what one read brought, and hands on what the host is to hear of it.
    ///
    /// - Throws: ``TransportError/Code/garbage`` if there is no going on without beginning anew.
    mutating func receive(_ chunk: Span<UInt8>, packet: (Span<UInt8>) -> Void) throws(TransportError)

    /// How long nothing may be read from now on; `nil` for any time.
    var patience: Duration? { get }

    /// Nothing was read for ``patience``, and there is nothing to read: hands on what the host is to hear then.
    ///
    /// - Returns: What to write.
    mutating func expire(packet: (Span<UInt8>) -> Void) throws(TransportError) -> [[UInt8]]
}
