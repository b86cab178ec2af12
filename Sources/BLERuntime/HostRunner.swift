package import BLEHost
import BLEWire
import Synchronization

/// The driver of one host: it runs the host on an event loop's thread, with the machine's clock and a transport to a
/// controller.
///
/// Input is processed in the order of arrival. A turn processes everything that is available, from the controller and
/// from clients, and then sends all packets with one write. When an app responds to an event, the app's thread takes
/// the turn.
///
/// Sendable because everything except the inbox is used only by the thread that holds the loop's lock. `assertOnLoop`
/// checks this when the transport calls. An actor with the loop as its executor would be slower: the runtime's check
/// costs a thousand instructions, twice per turn. Exclusivity checks, which cost a hundred instructions each, are off
/// for the properties that every turn uses. That is safe because a turn works on values that do not call out, and no
/// turn starts inside another.
package final class HostRunner: @unchecked Sendable {
    /// A command queued by another thread.
    private enum Command: Sendable {
        case start
        case stop
        case power(Bool)
        case open(ClientMailbox, ClientRole, ClientOwner)
        case request(ClientRequest, ClientID)
        case close(ClientMailbox)
        case appEnded(ClientMailbox)
        case appReturned(ClientMailbox)
        case transfer(ClientID, ClientOwner)
        case caughtUp(ClientID)
    }

    /// The socket through which monitors of this user receive packets; `nil` if the host cannot be monitored.
    package let monitorSocket: HostSocket?

    private let loop: EventLoop
    private let transport: any Transport
    private let storage: StateFile?
    private let radioStorage: RadioStateFiles?
    private let observers: PacketObservers
    private let clientCount = Atomic<Int>(0)
    private let inbox = Locked<[Command]>([])

    @exclusivity(unchecked) private var host: Host
    @exclusivity(unchecked) private var outputs: [Host.Output] = []
    @exclusivity(unchecked) private var framer = H4Framer(from: .controller)
    private var runtimeLog = RuntimeLog()
    @exclusivity(unchecked) private var commands: [Command] = []
    @exclusivity(unchecked) private var outgoing = OutgoingPackets()
    @exclusivity(unchecked) private var pendingEvents = PendingEvents()
    /// The client whose backlog is so long that nothing is read from the controller; `nil` if there is none.
    private var pausingClient: ClientID?
    private var time = PausableClock()
    /// The time of the host's next deadline, in the host's own time; `nil` if there is none.
    private var due: Instant?
    private var isStopped = false
    private var isSwitchedOff = false

    /// Creates a runner; call ``start()`` to start it.
    ///
    /// - Parameters:
    ///   - host: The host, which must be unused.
    ///   - transport: The transport to the controller, which must not be started.
    ///   - storage: The file for the known peers of a host with a real radio; `nil` to store none.
    ///   - radioStorage: The files for the known peers of a host whose controller identifies itself as a virtual radio;
    ///     `nil` to store none.
    ///   - tap: Called with every HCI packet.
    ///   - capture: The file that receives all HCI packets, and clients' requests and events.
    ///   - program: The name and process ID of the program, for captures and monitors.
    ///   - isWatchable: True if monitors of this user may see the packets, unless the environment forbids it.
    package init(
        _ host: consuming sending Host,
        transport: any Transport,
        storage: StateFile? = nil,
        radioStorage: RadioStateFiles? = nil,
        tap: PacketTap? = nil,
        capture: CaptureFile? = nil,
        program: String = "",
        isWatchable: Bool = false
    ) {
        loop = EventLoop("bluetooth-host")
        self.host = host
        self.transport = transport
        self.storage = storage
        self.radioStorage = radioStorage
        let source = PacketSource(program: program, machine: transport.name)
        observers = PacketObservers(source: source, tap: tap, capture: capture)
        if isWatchable { observers.openMonitorServer(on: loop) }
        monitorSocket = observers.socket
        weak let runner = self
        loop.start { runner?.takeTurn() }
    }

    /// Starts to connect to the controller.
    package func start() { enqueue(.start) }

    /// Releases the controller permanently.
    package func stop() { enqueue(.stop) }

    /// Queues a command for the next turn, after earlier commands.
    ///
    /// With `immediately`, the calling thread takes that turn itself, unless another thread is running the loop's work.
    private func enqueue(_ command: Command, immediately: Bool = false) {
        let isFirst = inbox.withLock { inbox in
            defer { inbox.append(command) }
            return inbox.isEmpty
        }
        guard isFirst, !(immediately && loop.takeTurnHere()) else { return }
        loop.wake()
    }

    /// Runs the queued commands and everything that the host does in response; returns the time of the next turn, or
    /// `nil` if no further turn is due.
    private func takeTurn() -> Instant? {
        let now = hostNow
        runCommands(at: now)
        if let due, due <= now { host.wake(at: now) }
        repeat { drain() } while sendOutgoing()
        for index in pendingEvents.clients.indices where !pendingEvents.clients[index].events.isEmpty {
            let count = pendingEvents.clients[index].mailbox.post(&pendingEvents.clients[index].events)
            if count > 4 * ClientMailbox.limit { stopController(for: pendingEvents.clients[index].client) }
        }
        if observers.isActive { observers.turnEnded() }
        due = isStopped ? nil : host.nextWake()
        return due.flatMap(time.wake)
    }

    /// The current time, as the host counts it.
    private var hostNow: Instant { time.time(at: loop.clock.now) }

    private func runCommands(at now: Instant) {
        inbox.withLock { if !$0.isEmpty { swap(&$0, &commands) } }
        guard !commands.isEmpty else { return }
        for command in commands { run(command, at: now) }
        commands.removeAll(keepingCapacity: commands.count <= ClientMailbox.limit)
    }

    private func run(_ command: Command, at now: Instant) {
        switch command {
        case .request(let request, let client):
            if observers.isActive { observers.record(request, of: client, at: loop.clock.now) }
            host.perform(request, for: client, at: now)
        case .open(let mailbox, let role, let owner):
            pendingEvents.open(mailbox)
            host.open(mailbox.client, role: role, of: owner, at: now)
        case .transfer(let client, let owner): host.transfer(client, to: owner)
        case .close(let mailbox):
            pendingEvents.close(mailbox)
            caughtUp(mailbox.client)
            host.close(mailbox.client, at: now)
        case .appEnded(let mailbox): host.appEnded(mailbox.client, at: now)
        case .appReturned(let mailbox): host.appReturned(mailbox.client, at: now)
        case .caughtUp(let client): caughtUp(client)
        case .start: if !isSwitchedOff { transport.start(for: self, on: loop) }
        case .power(let isOn): switchBluetooth(on: isOn, at: now)
        case .stop:
            isStopped = true
            transport.stop()
            observers.close()
        }
    }

    private func switchBluetooth(on isOn: Bool, at now: Instant) {
        guard isSwitchedOff == isOn else { return }
        isSwitchedOff = !isOn
        if isOn { return transport.start(for: self, on: loop) }
        transport.stop()
        host.transportSwitchedOff(at: now)
    }

    /// Collects the host's packets for ``sendOutgoing()``, and carries out its other outputs, such as events and stored
    /// peers.
    private func drain() {
        host.takeAll(into: &outputs, &outgoing)
        if observers.isActive { outgoing.forEach { record($0, .toController) } }
        for index in outputs.indices {
            // Exchanged instead of copied: copying and releasing an event would cost more than everything else here.
            switch exchange(&outputs[index], with: .resetTransport) {
            case .packet: preconditionFailure("packets are not among the outputs")
            case .event(let event, let client):
                if observers.isActive { observers.record(event, of: client, at: loop.clock.now) }
                pendingEvents.add(event, for: client)
            case .remember(let record): remember(record)
            case .loadPeers(let radio): host.loadPeers(radioStorage?.peers(on: radio) ?? [])
            case .resetTransport: transport.reset()
            case .note(let note): runtimeLog.write(note, at: loop.clock.now)
            }
        }
        outputs.removeAll(keepingCapacity: outputs.count <= ClientMailbox.limit)
    }

    private func remember(_ record: PeerRecord) {
        if let radio = host.virtualRadio {
            radioStorage?.remember(record, on: radio)
        } else if host.hasLastingPeers {
            storage?.remember(record)
        }
    }

    /// Sends the queued packets to the controller; returns whether there were any.
    ///
    /// The host may have more outputs after packets have been sent.
    private func sendOutgoing() -> Bool {
        guard !outgoing.isEmpty else { return false }
        transport.send(outgoing.span)
        outgoing.removeAll()
        return true
    }

    /// Stops reading from the controller until the client has processed its backlog.
    private func stopController(for client: ClientID) {
        guard pausingClient == nil else { return }
        pausingClient = client
        time.stop(at: loop.clock.now)
        transport.pause()
    }

    private func caughtUp(_ client: ClientID) {
        guard pausingClient == client else { return }
        pausingClient = nil
        time.resume(at: loop.clock.now)
        transport.resume()
    }

    private func record(_ packet: Span<UInt8>, _ direction: PacketRecord.Direction) {
        guard observers.isActive else { return }
        observers.record(packet, direction, at: loop.clock.now)
    }
}

extension HostRunner: TransportClient {
    package func transportOpened() {
        assertOnLoop()
        framer.reset()
        pausingClient = nil
        time.resume(at: loop.clock.now)
        host.transportOpened(at: hostNow)
    }

    package func transportClosed(_ error: TransportError) {
        assertOnLoop()
        runtimeLog.write(lost: transport.name, error)
        host.transportClosed(at: hostNow)
    }

    package func transportAbsent(_ error: TransportError) {
        assertOnLoop()
        runtimeLog.write(absent: transport.name, error)
        host.transportAbsent(error.absence, at: hostNow)
    }

    package func transportReceived(_ chunk: Span<UInt8>) throws(TransportError) {
        assertOnLoop()
        let now = hostNow
        try framer.receive(chunk) { packet in
            record(packet, .toHost)
            host.receive(packet, at: now)
        }
    }

    private func assertOnLoop() { precondition(loop.isCurrent, "transport callbacks must run on the loop's thread") }
}

extension HostRunner: SwitchableHost {
    package func switchBluetooth(on isOn: Bool) { enqueue(.power(isOn)) }

    /// A client's session with the host in this process.
    private struct Session: HostSession {
        let runner: HostRunner
        let mailbox: ClientMailbox

        func send(_ request: ClientRequest) {
            runner.enqueue(.request(request, mailbox.client), immediately: mailbox.noteRequest())
        }

        func close() {
            mailbox.close()
            runner.enqueue(.close(mailbox))
        }

        var droppedReports: UInt64 { mailbox.droppedReports }

        func appEnded() { runner.enqueue(.appEnded(mailbox)) }
        func appReturned() { runner.enqueue(.appReturned(mailbox)) }
        func transfer(to owner: ClientOwner) { runner.enqueue(.transfer(mailbox.client, owner)) }
    }

    package func open(
        _ role: ClientRole,
        restoring identifier: String?,
        _ receiver: EventReceiver
    ) -> any HostSession {
        open(role, for: .program, receiver)
    }

    package func open(_ role: ClientRole, for owner: ClientOwner, _ receiver: EventReceiver) -> any HostSession {
        let client = ClientID(rawValue: clientCount.wrappingAdd(1, ordering: .relaxed).newValue)
        let mailbox = ClientMailbox(client: client, receiver: receiver) { [weak self] in
            self?.runtimeLog.writeDroppingReports()
        } caughtUp: { [weak self] in
            self?.enqueue(.caughtUp(client))
        }
        enqueue(.open(mailbox, role, owner))
        return Session(runner: self, mailbox: mailbox)
    }
}
