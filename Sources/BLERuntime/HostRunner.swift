package import BLEHost
import BLEWire
package import Dispatch
import Synchronization

/// Drives one host on one serial queue, with the machine's clock and a transport to a controller.
///
/// The queue is the actor's executor, so that a callback that Dispatch delivers there enters the actor without
/// suspending: what arrives is handled in the order in which it arrived. A turn handles everything that is there, and
/// then sends all that came of it with one write.
package actor HostRunner {
    private let executor: QueueExecutor
    private let clock = MonotonicClock()
    private let alarm: Alarm
    private let transport: any Transport
    private let storage: StateFile?
    private let tap: PacketTap?
    private nonisolated let clientCount = Atomic<Int>(0)

    private var host: Host
    private var framer = H4Framer(from: .controller)
    private var journal = Journal()
    private var mailboxes: [ClientID: ClientMailbox] = [:]
    private var outgoing: [UInt8] = []
    private var posts: [(mailbox: ClientMailbox, events: [ClientEvent])] = []
    private var crowded: ClientMailbox?

    /// Creates a runner that begins with ``start()``.
    ///
    /// - Parameters:
    ///   - host: The host, which has not been used yet.
    ///   - transport: The way to the controller, which has not been started.
    ///   - storage: Where to keep what the host wants to remember, of radios that are not virtual; `nil` to forget it.
    ///   - tap: Hears of every HCI packet.
    package init(
        _ host: consuming sending Host,
        transport: any Transport,
        storage: StateFile? = nil,
        tap: PacketTap? = nil
    ) {
        executor = QueueExecutor(DispatchQueue(label: "corebluetooth.host", qos: .userInitiated))
        self.host = host
        self.transport = transport
        self.storage = storage
        self.tap = tap
        alarm = Alarm(queue: executor.queue, clock: clock)
        alarm.start { [weak self] in self?.assumeIsolated { $0.wake() } }
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Starts to connect to the controller.
    package nonisolated func start() {
        enter { $0.transport.start(for: $0, on: $0.executor.queue) }
    }

    /// Lets go of the controller for good.
    package nonisolated func stop() {
        enter { runner in
            runner.transport.stop()
            runner.alarm.cancel()
        }
    }

    private nonisolated func enter(_ body: @escaping @Sendable (isolated HostRunner) -> Void) {
        executor.queue.async { self.assumeIsolated(body) }
    }

    private func wake() {
        host.wake(at: clock.now)
        finishTurn()
    }

    /// Does what the host asks for, then sleeps until it must be woken.
    private func finishTurn() {
        while let output = host.next() {
            switch output {
            case .packet(let bytes):
                record(bytes.span, .toController)
                outgoing.append(contentsOf: bytes)
            case .event(let event, let client): post(event, to: client)
            case .remember(let record): if host.hasLastingPeers { storage?.remember(record) }
            case .resetTransport: transport.reset()
            case .note(let note): journal.write(note, at: clock.now)
            }
        }
        if !outgoing.isEmpty {
            transport.send(outgoing.span)
            outgoing.removeAll(keepingCapacity: true)
        }
        deliverPosts()
        alarm.set(host.deadline)
    }

    private func post(_ event: ClientEvent, to client: ClientID) {
        if let last = posts.indices.last, posts[last].mailbox.client == client {
            posts[last].events.append(event)
        } else if let mailbox = mailboxes[client] {
            posts.append((mailbox, [event]))
        }
    }

    /// Hands each client what the turn brought it.
    ///
    /// One that is far behind stops the controller until it has caught up.
    private func deliverPosts() {
        guard !posts.isEmpty else { return }
        for (mailbox, events) in posts where mailbox.post(events) > 4 * ClientMailbox.limit && crowded == nil {
            crowded = mailbox
            transport.pause()
        }
        posts.removeAll(keepingCapacity: true)
    }

    private func roomMade(in mailbox: ClientMailbox) {
        guard crowded === mailbox else { return }
        crowded = nil
        transport.resume()
    }

    private func record(_ packet: Span<UInt8>, _ direction: PacketRecord.Direction) {
        guard let tap else { return }
        tap(
            PacketRecord(
                machine: transport.name,
                direction: direction,
                time: clock.now,
                bytes: packet.withUnsafeBufferPointer { Array($0) }
            )
        )
    }
}

extension HostRunner: TransportClient {
    package nonisolated func transportOpened() {
        assumeIsolated { runner in
            runner.framer.reset()
            runner.crowded = nil
            runner.host.transportOpened(at: runner.clock.now)
            runner.finishTurn()
        }
    }

    package nonisolated func transportClosed(_ error: TransportError) {
        assumeIsolated { runner in
            runner.journal.write(lost: runner.transport.name, error)
            runner.host.transportClosed(at: runner.clock.now)
            runner.finishTurn()
        }
    }

    package nonisolated func transportAbsent(_ error: TransportError) {
        assumeIsolated { runner in
            runner.journal.write(absent: runner.transport.name, error)
            runner.host.transportAbsent(at: runner.clock.now)
            runner.finishTurn()
        }
    }

    package nonisolated func transportReceived(_ chunk: Span<UInt8>) throws(TransportError) {
        let failure = assumeIsolated { runner in runner.receive(chunk) }
        if let failure { throw failure }
    }

    private func receive(_ chunk: Span<UInt8>) -> TransportError? {
        var failure: TransportError?
        do throws(TransportError) {
            let now = clock.now
            try framer.receive(chunk) { packet in
                record(packet, .toHost)
                host.receive(packet, at: now)
            }
        } catch {
            failure = error
        }
        finishTurn()
        return failure
    }
}

extension HostRunner: HostLink {
    /// One client's conversation with the host of this process.
    private struct Session: HostSession {
        let runner: HostRunner
        let client: ClientID
        let mailbox: ClientMailbox

        func send(_ request: ClientRequest) {
            runner.enter { [client] runner in
                runner.host.perform(request, for: client, at: runner.clock.now)
                runner.finishTurn()
            }
        }

        func close() {
            mailbox.close()
            runner.enter { [client, mailbox] runner in
                runner.mailboxes[client] = nil
                runner.roomMade(in: mailbox)
                runner.host.close(client, at: runner.clock.now)
                runner.finishTurn()
            }
        }
    }

    package nonisolated func open(
        _ role: ClientRole,
        restoring identifier: String?,
        on queue: DispatchQueue,
        receive: @escaping @Sendable (ClientEvent) -> Void
    ) -> any HostSession {
        let client = ClientID(rawValue: clientCount.wrappingAdd(1, ordering: .relaxed).newValue)
        let mailbox = ClientMailbox(client: client, queue: queue, receive: receive) { [weak self] mailbox in
            self?.enter { $0.roomMade(in: mailbox) }
        }
        enter { runner in
            runner.mailboxes[client] = mailbox
            runner.host.open(client, role: role, at: runner.clock.now)
            runner.finishTurn()
        }
        return Session(runner: self, client: client, mailbox: mailbox)
    }
}
