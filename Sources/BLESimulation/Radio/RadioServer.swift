import BLEController
import BLEHost
package import BLERuntime
import BLEWire

/// A server of virtual controllers on sockets: one per address, or one per connection to a shared address, all on one
/// air.
///
/// A connection switches its controller on, and the end of the connection switches it off: a host finds it reset, and
/// its peers lose their links. A controller has one host at a time, unless the address is shared; ``ExtraConnections``
/// describes the handling of a second connection. The air keeps real time (``RadioPace``).
///
/// Sendable because everything happens on the thread of its loop.
package final class RadioServer: @unchecked Sendable {
    /// The maximum number of controllers on shared addresses.
    package static let mostShared = 4_096

    /// What becomes of a connection to a controller that has a host.
    package enum ExtraConnections: Sendable {
        /// It takes the place of the connection before, which is closed.
        case replace
        /// It waits this long for the host to leave, and is closed then.
        case wait(Duration)
    }

    /// A controller, whose number on the air is its index among the ports.
    private struct Port {
        let controller: ControllerID
        var number: UInt16 = 0
        var listener: SocketListener?
        /// True for a controller on a shared address.
        var isShared = false
        /// The connection of its host.
        var stream: SocketStream?
        /// The connections that wait until the host has gone.
        var waiting = WaitingConnections<SocketStream>()
        var framer = H4Framer(from: .host)
        var outgoing: [UInt8] = []
        /// True if another connection was closed during the current one.
        var hasRefused = false
    }

    private let loop = EventLoop("bluetooth-radio")
    private let tap: PacketTap?
    private let newcomers: ExtraConnections
    private let refused: (@Sendable (UInt16) -> Void)?
    // Looked at for every packet, by this file alone and never from within a change of themselves.
    @exclusivity(unchecked) private var air: Air
    @exclusivity(unchecked) private var ports: [Port] = []
    private var doors: [SocketListener] = []
    private var pace: RadioPace
    /// The packets being sent; the ports share this storage.
    private var packets: [UInt8] = []
    private var isStopped = false
    /// The address of the first controller; the others have the following ones.
    private let firstAddress: UInt64

    /// Tells this run from others with the same seed, so that hosts do not use the bonds of another run.
    private let run = UInt16.random(in: (ControllerIdentity.standardSubversion + 1) ... .max)

    /// Creates a server; call ``listen(at:)`` to listen.
    ///
    /// - Parameters:
    ///   - seed: The seed of the controllers' addresses and, as far as real time allows, of the random choices of the
    ///     radio channel.
    ///   - loss: The share of lost packets.
    ///   - pace: The speed of virtual time.
    ///   - newcomers: What becomes of a connection to a controller that has a host.
    ///   - tap: Called with every HCI packet.
    ///   - refused: Called with the port at which a second connection was closed, once for each host that has it.
    package init(
        seed: UInt64,
        loss: Double = 0,
        pace: RadioPace = RadioPace(),
        newcomers: ExtraConnections = .wait(.milliseconds(100)),
        tap: PacketTap? = nil,
        refused: (@Sendable (UInt16) -> Void)? = nil
    ) {
        air = Air(seed: seed, conditions: .init(loss: loss))
        firstAddress = Self.firstAddress(seed: seed)
        self.pace = pace
        self.newcomers = newcomers
        self.tap = tap
        self.refused = refused
        loop.start { [weak self] in self?.takeTurn() }
    }

    /// Returns an address that is not assigned to any manufacturer and is unlikely to be used elsewhere.
    private static func firstAddress(seed: UInt64) -> UInt64 {
        var random = SeededGenerator(seed: seed)
        return 0xCAB1_E000_0000 | random.next() >> 36
    }

    /// Adds a controller that is reached at `address`.
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

    /// Gives every connection to `address` its own controller, which exists as long as the connection.
    ///
    /// - Returns: The port of the controllers, chosen by the system if the requested port was 0.
    /// - Throws: ``TransportError/Code/unreachable`` if listening on the address fails.
    @discardableResult
    package func share(_ address: SocketAddress) throws(TransportError) -> UInt16 {
        let result: Result<UInt16, TransportError> = loop.sync { [self] in
            Result { () throws(TransportError) in
                let door = try SocketListener(at: address, on: loop) { [weak self] in self?.admit($0) }
                doors.append(door)
                return door.port
            }
        }
        return try result.get()
    }

    private func addPort(number: UInt16 = 0, isShared: Bool = false) {
        var identity = ControllerIdentity(address: DeviceAddress(firstAddress + UInt64(ports.count), .public))
        identity.subversion = run
        ports.append(Port(controller: air.add(identity), number: number, isShared: isShared))
    }

    /// Assigns a free controller to a connection to a shared address, if there may be one.
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
            doors = []
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
        switch newcomers {
        case .replace:
            current.close()
            serve(stream, at: index)
        case .wait(let patience):
            if !ports[index].waiting.add(stream, until: loop.clock.now + patience) { refuse(at: index) }
        }
    }

    /// Gives a connection the controller, which is switched off and on for it.
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

    /// Reports that a connection is refused and closed.
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

    /// Refuses the connections that have waited for too long, and returns when the next one will have.
    private func refuseOverdue() -> Instant? {
        var deadline: Instant?
        for index in ports.indices where ports[index].waiting.deadline != nil {
            if ports[index].waiting.expire(at: loop.clock.now) { refuse(at: index) }
            deadline.bringForward(to: ports[index].waiting.deadline)
        }
        return deadline
    }

    /// The air time.
    private var now: Instant { pace.time(on: loop.clock.now) }

    /// Runs due activities, and sends each host its packets with one write; returns the time of the next ones.
    private func takeTurn() -> Instant? {
        guard !isStopped else { return nil }
        air.wake(at: now)
        repeat { drain() } while hurry() || sendOutgoing()
        var deadline = air.deadline.map(pace.turn(for:))
        deadline.bringForward(to: refuseOverdue())
        return deadline
    }

    /// Skips air time from activity to activity while data are waiting, if the pace allows it and all hosts have read
    /// their packets; returns whether it did.
    private func hurry() -> Bool {
        guard pace.mayJump else { return false }
        for index in ports.indices where (ports[index].stream?.pendingOctets ?? 0) > 0 { return false }
        let clock = loop.clock.now
        var hasJumped = false
        while let due = air.carryOn() {
            pace.jump(to: due, from: clock)
            // Who records the packets is told when each left.
            if tap != nil { drain() }
            hasJumped = true
        }
        return hasJumped
    }

    /// Takes the output of the controllers.
    private func drain() {
        while let output = air.next() {
            guard case .hci(let bytes, let controller) = output else { continue }
            let index = controller.rawValue
            guard ports.indices.contains(index) else { continue }
            if tap != nil { record(bytes.span, .toHost, index, at: now) }
            ports[index].outgoing.append(contentsOf: bytes)
        }
    }

    /// Sends the packets of the turn; returns whether there were any, which may have caused more output.
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
