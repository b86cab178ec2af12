import BLEController
import BLEHost
package import BLERuntime
import BLEWire

/// A server that offers virtual controllers on sockets: one for each socket address, or one for each connection to a
/// shared socket address.
///
/// All controllers share one air.
///
/// A connection switches its controller on, and the end of the connection switches it off. So a host always finds its
/// controller reset, and when the host leaves, its peers lose their links. A controller has one host at a time;
/// ``ExtraConnections`` describes what happens to a second connection. The air follows real time (``RadioPace``).
///
/// Sendable because everything happens on the thread of its loop.
package final class RadioServer: @unchecked Sendable {
    /// The maximum number of controllers on shared socket addresses.
    package static let mostShared = 4_096
    /// The maximum number of activities that one turn runs before they are due.
    ///
    /// Between two turns, the sockets are served.
    private static let mostEarlyActivities = 1_000

    /// The handling of a new connection to a controller that already has a host.
    package enum ExtraConnections: Sendable {
        /// The new connection replaces the earlier connection, which is closed.
        case replace
        /// The new connection waits this long for the earlier connection to end. If that does not end in this time, the
        /// new connection is closed.
        case wait(Duration)
    }

    /// A controller, whose number on the air is its index among the ports.
    private struct Port {
        let controller: ControllerID
        var number: UInt16 = 0
        var listener: SocketListener?
        /// True for the controller of one connection to a shared socket address.
        var isShared = false
        /// The connection of the controller's host; `nil` if it has none.
        var stream: SocketStream?
        /// The connections that wait for the current host to disconnect.
        var waiting = WaitingConnections<SocketStream>()
        var framer = H4Framer(from: .host)
        var outgoing: [UInt8] = []
        /// True if a connection has been refused since the current host connected.
        var hasRefused = false
    }

    private let loop = EventLoop("bluetooth-radio")
    private let tap: PacketTap?
    private let extraConnections: ExtraConnections
    private let refused: (@Sendable (UInt16) -> Void)?
    // These two are used for every packet. Their exclusivity is not checked, because only this file uses them, and
    // never while one of them is being changed.
    @exclusivity(unchecked) private var air: Air
    @exclusivity(unchecked) private var ports: [Port] = []
    private var listeners: [SocketListener] = []
    private var pace: RadioPace
    /// The packets being sent; the ports share this storage.
    private var packets: [UInt8] = []
    private var isStopped = false
    /// The device address of the first controller; the other controllers have the addresses that follow.
    private let firstAddress: UInt64

    /// A number that differs from run to run, even with the same seed, so that hosts do not use bonds from an earlier
    /// run.
    private let run = UInt16.random(in: (ControllerIdentity.standardSubversion + 1) ... .max)

    /// Creates a server; call ``listen(at:)`` to listen.
    ///
    /// - Parameters:
    ///   - seed: The seed of the controllers' addresses and, as far as real time allows, of the random choices of the
    ///     radio channel.
    ///   - loss: The share of packets that are lost on the air, from 0 to 1.
    ///   - pace: The relation of air time to real time.
    ///   - extraConnections: The handling of a new connection to a controller that already has a host.
    ///   - tap: Called with every HCI packet.
    ///   - refused: Called with the port of a controller if a second connection to it was refused, at most once for
    ///     each host that uses the controller.
    package init(
        seed: UInt64,
        loss: Double = 0,
        pace: RadioPace = RadioPace(),
        extraConnections: ExtraConnections = .wait(.milliseconds(100)),
        tap: PacketTap? = nil,
        refused: (@Sendable (UInt16) -> Void)? = nil
    ) {
        air = Air(seed: seed, conditions: .init(loss: loss))
        air.pauseUnheardAdvertising()
        firstAddress = Self.firstAddress(seed: seed)
        self.pace = pace
        self.extraConnections = extraConnections
        self.tap = tap
        self.refused = refused
        loop.start { [weak self] in self?.takeTurn() }
    }

    /// Returns a device address that is not assigned to any manufacturer and is unlikely to be used elsewhere.
    private static func firstAddress(seed: UInt64) -> UInt64 {
        var random = SeededGenerator(seed: seed)
        return 0xCAB1_E000_0000 | random.next() >> 36
    }

    /// Adds a controller that hosts can connect to at `address`.
    ///
    /// - Returns: The port of the controller, chosen by the system if the requested port was 0.
    /// - Throws: ``TransportError/Code/unreachable`` if listening on the address fails.
    @discardableResult
    package func listen(at address: SocketAddress) throws(TransportError) -> UInt16 {
        let result: Result<UInt16, TransportError> = loop.sync { [self] in
            Result { () throws(TransportError) in
                let index = ports.count
                let listener = try SocketListener(at: address, on: loop) { [weak self] stream in
                    self?.accept(stream, at: index)
                }
                addPort(number: listener.port)
                ports[index].listener = listener
                return listener.port
            }
        }
        return try result.get()
    }

    /// Gives every connection to `address` a controller of its own, as long as the connection exists.
    ///
    /// - Returns: The port of the controllers, chosen by the system if the requested port was 0.
    /// - Throws: ``TransportError/Code/unreachable`` if listening on the address fails.
    @discardableResult
    package func share(_ address: SocketAddress) throws(TransportError) -> UInt16 {
        let result: Result<UInt16, TransportError> = loop.sync { [self] in
            Result { () throws(TransportError) in
                let listener = try SocketListener(at: address, on: loop) { [weak self] in self?.admit($0) }
                listeners.append(listener)
                return listener.port
            }
        }
        return try result.get()
    }

    private func addPort(number: UInt16 = 0, isShared: Bool = false) {
        var identity = ControllerIdentity(address: DeviceAddress(firstAddress + UInt64(ports.count), .public))
        identity.subversion = run
        ports.append(Port(controller: air.add(identity), number: number, isShared: isShared))
    }

    /// Assigns a free controller to a connection to a shared socket address.
    ///
    /// Closes the connection if all ``mostShared`` controllers are in use.
    private func admit(_ stream: SocketStream) {
        var free = ports.firstIndex { $0.isShared && $0.stream == nil }
        if free == nil, ports.count(where: \.isShared) < Self.mostShared {
            free = ports.count
            addPort(isShared: true)
        }
        if let free { accept(stream, at: free) }
    }

    /// Closes all connections and ports.
    package func stop() {
        loop.sync { [self] in
            listeners = []
            for index in ports.indices {
                ports[index].listener = nil
                ports[index].waiting = WaitingConnections()
                ports[index].stream?.close()
                ports[index].stream = nil
            }
            isStopped = true
        }
    }

    private func accept(_ stream: SocketStream, at index: Int) {
        // The end of the host's connection may not have been read yet.
        ports[index].stream?.catchUp()
        guard let current = ports[index].stream else { return serve(stream, at: index) }
        switch extraConnections {
        case .replace:
            current.close()
            serve(stream, at: index)
        case .wait(let patience):
            if !ports[index].waiting.add(stream, until: loop.clock.now + patience) { refuse(at: index) }
        }
    }

    /// Power-cycles the controller with this index, and connects a host to it.
    private func serve(_ stream: SocketStream, at index: Int) {
        ports[index].stream = stream
        ports[index].hasRefused = false
        ports[index].framer.reset()
        ports[index].outgoing.removeAll()
        air.powerCycle(ports[index].controller, at: now)
        stream.start { [weak self, weak stream] (chunk) throws(TransportError) in
            guard let self, let stream else { return }
            try receive(chunk, on: stream, at: index)
        } closed: { [weak self, weak stream] _ in
            if let self, let stream { disconnected(stream, at: index) }
        }
    }

    /// Reports that another connection to the controller at `index` was refused, at most once while the same host is
    /// connected to it.
    private func refuse(at index: Int) {
        guard !ports[index].hasRefused else { return }
        ports[index].hasRefused = true
        refused?(ports[index].number)
    }

    private func receive(_ chunk: Span<UInt8>, on stream: SocketStream, at index: Int) throws(TransportError) {
        guard ports[index].stream === stream else { return }
        let now = now, controller = ports[index].controller
        air.wake(at: now)
        try ports[index].framer.receive(chunk) { packet in
            record(packet, .toController, index, at: now)
            air.receive(packet, from: controller, at: now)
        }
    }

    private func disconnected(_ stream: SocketStream, at index: Int) {
        guard ports[index].stream === stream else { return }
        ports[index].stream = nil
        air.powerCycle(ports[index].controller, at: now)
        if let next = ports[index].waiting.next() { serve(next, at: index) }
    }

    /// Refuses the connections that have waited for too long; returns the time at which the next connection must be
    /// refused, or `nil` if none is waiting.
    private func refuseOverdue() -> Instant? {
        var deadline: Instant?
        for index in ports.indices where ports[index].waiting.deadline != nil {
            if ports[index].waiting.expire(at: loop.clock.now) { refuse(at: index) }
            deadline.bringForward(to: ports[index].waiting.deadline)
        }
        return deadline
    }

    /// The current air time.
    private var now: Instant { pace.time(on: loop.clock.now) }

    /// Runs due activities, and sends each host its packets with one write.
    ///
    /// Returns the time of the next turn; `nil` if nothing is scheduled or the server has been stopped.
    private func takeTurn() -> Instant? {
        guard !isStopped else { return nil }
        air.wake(at: now)
        var rest = Self.mostEarlyActivities
        repeat { drain() } while skipAirTime(atMost: &rest) || sendOutgoing()
        var deadline = rest == 0 ? loop.clock.now : air.deadline.map(pace.turn(for:))
        deadline.bringForward(to: refuseOverdue())
        return deadline
    }

    /// Runs the scheduled activities before they are due, for as long as data is in flight on the air.
    ///
    /// Does nothing if the pace does not allow it, or if a host has not read all its packets.
    ///
    /// - Parameter rest: The maximum number of activities; reduced by the number of those that were run.
    /// - Returns: Whether any air time was skipped.
    private func skipAirTime(atMost rest: inout Int) -> Bool {
        guard pace.mayJump else { return false }
        for index in ports.indices where (ports[index].stream?.pendingOctets ?? 0) > 0 { return false }
        let clock = loop.clock.now
        var hasJumped = false
        while rest > 0, let due = air.runNext() {
            rest -= 1
            pace.jump(to: due, from: clock)
            // The tap must receive each packet with the time at which it was sent.
            if tap != nil { drain() }
            hasJumped = true
        }
        return hasJumped
    }

    /// Takes the output of the controllers, and queues it for the hosts.
    private func drain() {
        while let output = air.next() {
            guard case .hci(let bytes, let controller) = output else { continue }
            let index = controller.rawValue
            guard ports.indices.contains(index) else { continue }
            if tap != nil { record(bytes.span, .toHost, index, at: now) }
            ports[index].outgoing.append(contentsOf: bytes)
        }
    }

    /// Sends each host the packets that are queued for it; returns whether there were any.
    ///
    /// Sending may cause more output, so if there were any, the caller must drain the controllers again.
    private func sendOutgoing() -> Bool {
        var hasSent = false
        for index in ports.indices where !ports[index].outgoing.isEmpty {
            swap(&ports[index].outgoing, &packets)
            ports[index].stream?.write(packets.span)
            packets.removeAll(keepingCapacity: true)
            hasSent = true
        }
        return hasSent
    }

    private func record(_ packet: Span<UInt8>, _ direction: PacketRecord.Direction, _ index: Int, at now: Instant) {
        guard let tap else { return }
        let bytes = packet.withUnsafeBufferPointer { Array($0) }
        tap(PacketRecord(machine: "controller \(index)", direction: direction, time: now, bytes: bytes))
    }
}
