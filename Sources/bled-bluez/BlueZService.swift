import BLEBlueZ
import BLEHost
import BLERuntime
import BLESession
import BLEWire
import DBus
import Dispatch
import Glibc

/// The service that connects a ``BlueZBridge`` to the bus and to the daemon.
///
/// Sendable because everything happens on the loop's thread.
final class BlueZService: @unchecked Sendable {
    /// The length of the queue to the bus, in octets, above which signals about received advertisements wait.
    private static let congestion = 262_144

    private let loop: EventLoop
    private let socket: BusSocket
    private let link: DaemonLink
    private let daemon: String
    private let radio: String
    /// The dispatch queue for requests to the daemon that take a while.
    private let queue = DispatchQueue(label: "bled-bluez")
    private let ended: @Sendable (CommandFailure) -> Void
    private let ready: @Sendable () -> Void
    private var conversation: BusConversation
    private var bridge: BlueZBridge
    private var sessions: [BlueZBridge.SessionKey: any HostSession] = [:]
    private var calls: [UInt32: BlueZBridge.CallNumber] = [:]
    private var pipes: [BlueZBridge.PipeNumber: ValuePipe] = [:]
    /// The file descriptors of the reply that the bridge is processing; those that the bridge does not take are closed.
    private var received: [FileDescriptor] = []
    /// The serial number of the call to `RequestName`.
    private var nameRequest: UInt32 = 0

    /// Creates a service on a bus.
    ///
    /// - Parameters:
    ///   - bus: A connection to the bus.
    ///   - daemon: The path of the daemon's socket.
    ///   - radio: The name of the daemon's radio; empty for the first one.
    ///   - adapter: The adapter that programs see.
    ///   - ready: Called when programs can use the service.
    ///   - ended: Called when the service ends, with the reason.
    init(
        on bus: FileDescriptor,
        daemon: String,
        radio: String,
        adapter: BlueZBridge.Adapter,
        ready: @escaping @Sendable () -> Void,
        ended: @escaping @Sendable (CommandFailure) -> Void
    ) {
        loop = EventLoop("bled-bluez")
        socket = BusSocket(bus, on: loop)
        link = DaemonLink(to: daemon, radio: radio, on: loop)
        self.daemon = daemon
        self.radio = radio
        self.ready = ready
        self.ended = ended
        conversation = BusConversation(user: geteuid(), receivesCalls: true, passesDescriptors: true, callLimit: 4_096)
        bridge = BlueZBridge(adapter)
    }

    /// Connects to the bus and requests BlueZ's bus name.
    ///
    /// Call this only once.
    func start() {
        loop.start { [weak self] in self?.takeTurn() }
        loop.post { [self] in
            socket.start(receive: { [weak self] in self?.receive($0, with: $1) }) { [ended] reason in
                ended(CommandFailure("The connection to the bus was lost: \(reason).", 69))
            }
            converse { conversation throws(BusConversation.Failure) in
                let changes = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'"
                _ = try conversation.call(Self.question("AddMatch", [.string(changes)]))
                // 4: do not wait for the name if another program owns it.
                nameRequest = try conversation.call(
                    Self.question("RequestName", [.string("org.bluez"), .uint32(4)])
                )
            }
            carryOut(bridge.takeActions())
        }
    }

    private static func question(_ member: String, _ body: [BusValue]) -> BusMessage {
        let bus = "org.freedesktop.DBus"
        return BusMessage(
            kind: .call,
            path: "/org/freedesktop/DBus",
            interface: bus,
            member: member,
            destination: bus,
            body: body
        )
    }

    /// Calls `body` with the conversation; a failure ends the service.
    private func converse(_ body: (inout BusConversation) throws(BusConversation.Failure) -> Void) {
        do throws(BusConversation.Failure) {
            try body(&conversation)
        } catch {
            ended(CommandFailure("Cannot use the bus: \(error).", 69))
        }
    }

    /// Processes everything that is due and then the daemon's events, and sends the accumulated messages to the bus;
    /// returns the time of the bridge's next deadline, `nil` if it has none.
    ///
    /// Called at the end of each pass of the loop, so all messages of a pass are sent with a single write.
    private func takeTurn() -> Instant? {
        if let deadline = bridge.deadline {
            let now = loop.clock.now
            if deadline <= now { carryOut(bridge.expire(at: now)) }
        }
        link.takeTurn()
        socket.write(conversation.takeOctets())
        bridge.isCongested = socket.backlog > Self.congestion
        return bridge.deadline
    }

    private func receive(_ octets: [UInt8], with descriptors: [FileDescriptor]) {
        var events: [BusConversation.Event] = []
        converse { conversation throws(BusConversation.Failure) in
            events = try conversation.receive(octets, with: descriptors)
        }
        for event in events {
            switch event {
            case .called(let message), .signal(let message):
                endPipes()
                carryOut(bridge.receive(message, at: loop.clock.now))
            case .replied(let serial, let reply, let descriptors):
                if serial == nameRequest {
                    checkName(reply)
                } else if let number = calls.removeValue(forKey: serial) {
                    received = descriptors.allSatisfy(ValuePipe.accepts) ? descriptors : []
                    carryOut(bridge.replied(to: number, with: reply, sockets: received.count, at: loop.clock.now))
                    received = []
                }
            }
        }
    }

    /// Ends the pipes that programs have closed, so that the following calls can acquire the same characteristics
    /// again.
    private func endPipes() {
        for number in pipes.keys.sorted() where pipes[number]?.isAtEnd == true {
            carryOut(bridge.receive(nil, from: number, at: loop.clock.now))
        }
    }

    private func checkName(_ reply: BusReply) {
        switch reply {
        case .values(let values, _):
            // 1: this connection owns the name.
            if values.first == .uint32(1) { return ready() }
            let cure = "Stop it first: systemctl stop bluetooth.service."
            ended(CommandFailure("Another program owns org.bluez on this bus. \(cure)", 69))
        case .refused(let refusal):
            let cure = "A D-Bus policy, such as bled-bluez.conf, must allow this user to own the name."
            ended(CommandFailure("The bus refused the name org.bluez: \(refusal.description.printable). \(cure)", 77))
        }
    }

    private func carryOut(_ actions: [BlueZBridge.Action]) {
        for action in actions { carryOut(action) }
    }

    private func carryOut(_ action: BlueZBridge.Action) {
        switch action {
        case .send(let message): converse { conversation in conversation.send(message) }
        case .call(let number, let message):
            converse { conversation throws(BusConversation.Failure) in
                calls[try conversation.call(message)] = number
            }
        case .forget(let number):
            guard let serial = calls.first(where: { $0.value == number })?.key else { break }
            calls[serial] = nil
            conversation.forget(serial)
        case .open(let key, let credentials): open(key, credentials)
        case .request(let key, let request): sessions[key]?.send(request)
        case .close(let key): sessions.removeValue(forKey: key)?.close()
        case .sendPipe(let number, let message): openPipe(number, message)
        case .takePipe(let number, let index): takePipe(number, index)
        case .writePipe(let number, let value): pipes[number]?.write(value)
        case .passWrite(let number, let value):
            let isPassed = pipes[number]?.write(value) ?? false
            carryOut(bridge.passed(isPassed, to: number, at: loop.clock.now))
        case .closePipe(let number): pipes.removeValue(forKey: number)?.close()
        case .pausePipe(let number): pipes[number]?.pause()
        case .resumePipe(let number): pipes[number]?.resume()
        case .power(let isOn): switchPower(isOn)
        }
    }

    private func open(_ key: BlueZBridge.SessionKey, _ credentials: BlueZBridge.Credentials?) {
        let receiver = EventReceiver.inTurn { [weak self] events in
            guard let self else { return }
            let now = loop.clock.now
            for event in events { carryOut(bridge.receive(event, of: key, at: now)) }
        }
        guard let credentials else {
            sessions[key] = link.open(key.role, restoring: nil, receiver)
            return
        }
        let principal = Principal(user: credentials.user, process: credentials.process ?? 0)
        sessions[key] = link.open(key.role, onBehalfOf: principal, receiver)
    }

    /// Returns the function that passes the values from a pipe to the bridge.
    private func receiver(of number: BlueZBridge.PipeNumber) -> @Sendable ([UInt8]?) -> Void {
        { [weak self] value in
            guard let self else { return }
            carryOut(bridge.receive(value, from: number, at: loop.clock.now))
        }
    }

    /// Takes a socket that came with the reply that the bridge is processing.
    private func takePipe(_ number: BlueZBridge.PipeNumber, _ index: Int) {
        guard received.indices.contains(index) else { return }
        pipes[number] = ValuePipe(received[index], on: loop, receive: receiver(of: number))
    }

    private func openPipe(_ number: BlueZBridge.PipeNumber, _ reply: BusMessage) {
        guard let pair = ValuePipe.pair(on: loop, receive: receiver(of: number)) else {
            carryOut(bridge.receive(nil, from: number, at: loop.clock.now))
            var refusal = BusMessage(kind: .error, errorName: "org.bluez.Error.Failed", replySerial: reply.replySerial)
            refusal.destination = reply.destination
            refusal.body = [.string("There are too many open files")]
            return converse { conversation in conversation.send(refusal) }
        }
        pipes[number] = pair.own
        // The descriptor goes with the first octet of its message.
        socket.write(conversation.takeOctets())
        conversation.send(reply)
        socket.write(conversation.takeOctets(), passing: pair.other)
    }

    /// Asks the daemon to switch Bluetooth on or off; does not wait for the answer, which may take a while.
    private func switchPower(_ isOn: Bool) {
        queue.async { [daemon, radio] in
            _ = try? DaemonQuery(at: daemon).ask(.power(radio: radio.isEmpty ? nil : radio, isOn: isOn))
        }
    }
}
