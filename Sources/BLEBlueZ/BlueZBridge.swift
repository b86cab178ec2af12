package import BLEHost
package import BLEWire
package import DBus

/// The logic of BlueZ's D-Bus API on top of sessions with the daemon, without sockets and timers.
///
/// Calls, replies, signals and session events go in; messages, session requests and a deadline come out. Each program
/// on the bus has its own sessions, so the daemon's policy and accounting see the program and not the bridge.
///
/// Every input method returns the actions to carry out, in order. Signals about changed objects precede the reply to
/// the call that changed them.
package struct BlueZBridge: Sendable {
    /// The identity of the adapter object.
    package struct Adapter: Sendable {
        /// The last component of the object's path, such as `hci0`.
        package var name: String
        package var address: DeviceAddress
        /// The name that users see.
        package var alias: String
        /// The IDs of the users who may change the adapter's properties, for example to switch Bluetooth off and on.
        package var administrators: [UInt32]

        package init(name: String, address: DeviceAddress, alias: String, administrators: [UInt32]) {
            self.name = name
            self.address = address
            self.alias = alias
            self.administrators = administrators
        }
    }

    /// The user ID and the process ID of a program, as the bus reports them.
    package struct Credentials: Hashable, Sendable {
        package var user: UInt32
        package var process: UInt32?

        package init(user: UInt32, process: UInt32?) {
            self.user = user
            self.process = process
        }
    }

    /// The identity of a session with the daemon.
    package struct SessionKey: Hashable, Sendable {
        package enum Purpose: Hashable, Sendable {
            case central, agent
            /// The services of the application with this number.
            case application(UInt32)
            /// The advertisement with this number.
            case advertisement(UInt32)
        }

        /// The unique name of the program on the bus; empty for the bridge itself.
        package let client: String
        package let purpose: Purpose

        package init(_ client: String, _ purpose: Purpose) {
            self.client = client
            self.purpose = purpose
        }

        package var role: ClientRole {
            switch purpose {
            case .central: .central
            case .agent: .agent
            case .application, .advertisement: .peripheral
            }
        }
    }

    /// The number that identifies a call that the bridge makes on the bus.
    package typealias CallNumber = UInt64
    /// The number that identifies a pair of sockets between the bridge and a program.
    package typealias PipeNumber = UInt32

    package enum Action: Equatable, Sendable {
        /// Sends a reply, an error or a signal.
        case send(BusMessage)
        /// Makes a call; ``BlueZBridge/replied(to:with:at:)`` reports its result.
        case call(CallNumber, BusMessage)
        /// Ends the wait for the result of a call.
        case forget(CallNumber)
        /// Opens a session for a program with these credentials, or for the bridge itself if there are none.
        case open(SessionKey, Credentials?)
        case request(SessionKey, ClientRequest)
        case close(SessionKey)
        /// Sends a reply with one end of a new pair of sockets as its first value.
        case sendPipe(PipeNumber, BusMessage)
        /// Takes the socket with this index among those of the reply that is being processed.
        case takePipe(PipeNumber, Int)
        /// Writes a value; drops it if the program reads too slowly.
        case writePipe(PipeNumber, [UInt8])
        /// Writes a value that a central has written; ``BlueZBridge/passed(_:to:at:)`` reports the result.
        case passWrite(PipeNumber, [UInt8])
        case closePipe(PipeNumber)
        /// Stops reading from a pipe until it is resumed.
        case pausePipe(PipeNumber)
        case resumePipe(PipeNumber)
        /// Switches Bluetooth on or off for all programs.
        case power(isOn: Bool)
    }

    /// A program on the bus.
    struct Client: Sendable {
        var credentials: Credentials?
        /// The program's calls that wait until its credentials are known.
        var pendingCalls: [BusMessage] = []
        /// The number of the program's calls that have not been answered.
        var pending = 0
        /// The attribute values that the program has read or been notified of, by object path.
        var values = OrderedMap<String, [UInt8]>()
        var filter = DiscoveryFilter()
        var isDiscovering = false
        /// The path of the program's pairing agent, and the agent's capability for input and output; `nil` if there is
        /// no agent.
        var agent: (path: String, capability: SMP.IOCapability)?
        /// True if the program has left the bus, but its session is kept because it has a connection that no other
        /// session of its user has.
        var isGone = false
    }

    /// A session and its outstanding requests.
    struct Session: Sendable {
        var state: HostState?
        var lastNumber = RequestNumber.none
        var requests = OrderedMap<RequestNumber, PeerRequestRecord>()
        /// The number of the session's write commands that are still in the host.
        var commands = 0
        /// The number of values that the session sends to centrals and that have not left the host.
        var updates = 0
        /// The calls to `StartDiscovery` or `RegisterAgent` that wait until the host's state is known.
        var starting: [Caller] = []
        /// True from a reset of the host until Bluetooth is on again.
        ///
        /// A reset discards what the session has requested from the host, so the session must then request it again.
        var isReset = false
    }

    /// The limits on what programs and devices can make the bridge store.
    enum Limit {
        /// The maximum number of programs whose users are known, in total and per user other than root; calls by
        /// additional programs are refused.
        static let clients = 256, userClients = 64
        /// The maximum number of programs that wait for their credentials; calls by additional programs are refused.
        ///
        /// The bus answers immediately, and by default admits 256 connections per user.
        static let unidentifiedClients = 512
        /// The maximum number of a program's calls that wait for its credentials, and the maximum number that wait for
        /// a reply; calls beyond these limits are refused.
        static let heldCalls = 64, pendingCalls = 256
        /// The maximum number of the bridge's calls that wait for a reply from one program; calls beyond that fail
        /// immediately.
        static let calls = 64
        /// The maximum number of the bridge's calls that wait for a reply, in total; calls to programs beyond that fail
        /// immediately.
        static let allCalls = 2_048
        /// The maximum number of a session's write commands in the host; commands beyond that are refused, or wait in
        /// their pipe.
        static let commands = 128
        /// The number of a session's unsent values at which the bridge stops reading the sockets with its values.
        static let updates = 32
        /// The maximum number of devices; at the limit, a new one replaces the least recently seen one that is not
        /// bonded or connected, a trusted one only if there is no other, and is not added if there is none.
        static let devices = 1_024
        /// The maximum number of users who trust a device; calls by other users to trust it are refused.
        static let trustingUsers = 64
        /// The maximum number of attributes of a device, after which its discovery stops, and the maximum number of
        /// UUIDs in its property `UUIDs`; if new UUIDs do not all fit, none of them is added.
        static let attributes = 4_096
        /// The maximum number of attribute values that are kept for a program; at the limit, the oldest is removed.
        static let values = 256
        /// The maximum length of an alias, in octets; longer aliases are refused.
        static let alias = 248
        /// The maximum number of applications per program, and of objects per application; an application that exceeds
        /// either limit is refused.
        static let applications = 8, applicationObjects = 512
        /// The maximum number of a program's objects with `AdvertisementMonitor1`; further ones are released.
        static let monitorObjects = 64
        /// The maximum numbers of advertisements, monitors and pipes of all programs together; calls that would exceed
        /// a limit are refused.
        static let advertisements = 8, monitors = 32, pipes = 64
        /// The maximum numbers of sockets of exported characteristics, in total and per program; beyond them, the
        /// program gets writes and sends values through D-Bus.
        static let exportedPipes = 64, clientExportedPipes = 32
        /// The maximum number of writes that wait until the program has answered `AcquireWrite`, for each
        /// characteristic and central; writes beyond that are refused.
        static let acquiringWrites = 64
        /// The maximum number of calls to `ConnectDevice` that wait for an advertisement, in total and per program;
        /// calls beyond a limit are refused.
        static let searches = 64, clientSearches = 4
    }

    /// The bus's own name, which is also the name of its interface.
    static let bus = "org.freedesktop.DBus"
    /// The time for which reports of a known device are collected into one signal.
    static let reportPeriod = Duration.milliseconds(50)
    /// The smallest change of the property `RSSI`, in dB, that is sent to programs at once; smaller changes are sent
    /// once per `strengthPeriod`.
    static let strengthStep = 8, strengthPeriod = Duration.seconds(1)
    /// The time without advertisements after which a device is removed, unless it is bonded, trusted or connected.
    ///
    /// Devices do not expire while a program is discovering.
    static let deviceLifetime = Duration.seconds(180)
    /// The maximum duration of a connection attempt.
    static let connectionTimeout = Duration.seconds(25)
    /// The time in which a program must answer a call; it is less than the ATT transaction timeout of 30 s.
    static let callTimeout = Duration.seconds(25)

    let adapter: Adapter
    var now = Instant()
    var tree = ObjectTree()
    var clients = OrderedMap<String, Client>()
    var sessions = OrderedMap<SessionKey, Session>()
    var devices = OrderedMap<PeerIdentifier, Device>()
    /// The peers of the devices, by object path.
    var peers: [String: PeerIdentifier] = [:]
    var calls = OrderedMap<CallNumber, PendingCall>()
    var applications = OrderedMap<UInt32, Application>()
    var advertisements = OrderedMap<UInt32, Advertisement>()
    var monitors = OrderedMap<UInt32, Monitor>()
    var pipes = OrderedMap<PipeNumber, Pipe>()
    /// The sockets of exported characteristics that programs have returned, or are about to return.
    var exportedPipes = OrderedMap<PipeNumber, ExportedPipe>()
    var removals: [Removal] = [], heldInquiries: [HeldInquiry] = [], searches: [DeviceSearch] = []
    var modaliasReads = OrderedMap<PeerIdentifier, ModaliasRead>()
    /// The latest advertisement of each device, if it has not been signalled yet.
    var reports = OrderedMap<PeerIdentifier, AdvertisementReport>()
    /// The time at which to signal ``reports``; `nil` if there are none.
    var reportTime: Instant?
    var sweepTime: Instant?
    /// A time no later than the earliest deadline of the calls, monitors, held questions, searches and scheduled reads;
    /// `nil` if they have no deadline.
    ///
    /// Without it, each event would cause a search for that deadline.
    var waitTime: Instant?
    var discoverableUntil: Instant?
    var lastCall: CallNumber = 0
    var lastNumber: UInt32 = 0
    private var actions: [Action] = []

    /// True while the bus accepts messages too slowly; signals about received advertisements then wait.
    package var isCongested = false

    /// Creates the objects of an adapter, and opens the bridge's own sessions.
    package init(_ adapter: Adapter) {
        self.adapter = adapter
        addAdapter()
        _ = tree.takeSignals()
        open(.own(.central))
        open(.own(.agent))
    }

    var adapterPath: String { "/org/bluez/" + adapter.name }

    /// Returns and removes the accumulated actions, including the signals about changed objects.
    package mutating func takeActions() -> [Action] {
        flushSignals()
        defer { actions = [] }
        return actions
    }

    mutating func act(_ action: Action) { actions.append(action) }

    /// Signals the object changes that have not been signalled yet.
    mutating func flushSignals() {
        for signal in tree.takeSignals() { actions.append(.send(signal)) }
    }

    /// Returns a new number for a pipe, application, advertisement, monitor or local attribute.
    mutating func nextNumber() -> UInt32 {
        lastNumber &+= 1
        return lastNumber
    }
}

extension BlueZBridge.SessionKey {
    static func own(_ purpose: Purpose) -> Self { Self("", purpose) }
    var isOwn: Bool { client.isEmpty }
}

extension BlueZBridge {
    /// The time at which to call ``expire(at:)``; `nil` if nothing will be due.
    package var deadline: Instant? {
        let advertisementDeadline = advertisements.all.compactMap(\.deadline).min()
        let all = [reportTime, sweepTime, discoverableUntil, waitTime, advertisementDeadline]
        return all.compactMap(\.self).min()
    }

    /// Makes sure that ``expire(at:)`` is called at this time.
    mutating func wait(until time: Instant) { waitTime = min(waitTime ?? time, time) }

    /// Processes everything that is due at this time.
    package mutating func expire(at time: Instant) -> [Action] {
        now = time
        if let reportTime, reportTime <= now { flushReports() }
        if let sweepTime, sweepTime <= now { removeOldDevices() }
        if let discoverableUntil, discoverableUntil <= now { setDiscoverable(false) }
        if let waitTime, waitTime <= now {
            expireCalls()
            expireMonitors()
            expireHeldInquiries()
            expireSearches()
            readModaliases()
            let deadlines = calls.all.map(\.deadline) + heldInquiries.map(\.deadline) + searches.map(\.deadline)
            let others = modaliasReads.all.map(\.time)
            self.waitTime = (deadlines + others + monitors.all.compactMap(\.deadline)).min()
        }
        expireAdvertisements()
        return takeActions()
    }

    private mutating func expireCalls() {
        for number in calls.keys {
            guard let call = calls[number], call.deadline <= now else { continue }
            calls[number] = nil
            act(.forget(number))
            finish(call.purpose, .refused(.timedOut))
        }
    }

    /// Processes a call or signal from the bus.
    package mutating func receive(_ message: BusMessage, at time: Instant) -> [Action] {
        now = time
        switch message.kind {
        case .call: receiveCall(message)
        case .signal: receiveSignal(message)
        case .reply, .error: break
        }
        return takeActions()
    }

    /// Processes the result of a call that the bridge made.
    ///
    /// `sockets` is the number of connected Unix sockets that came with the reply. The bridge takes them with
    /// ``Action/takePipe(_:_:)`` among the returned actions.
    package mutating func replied(
        to number: CallNumber,
        with reply: BusReply,
        sockets: Int = 0,
        at time: Instant
    ) -> [Action] {
        now = time
        if let call = calls[number] {
            calls[number] = nil
            finish(call.purpose, reply, sockets)
        }
        return takeActions()
    }

    private mutating func receiveCall(_ call: BusMessage) {
        guard let sender = call.sender else { return }
        guard let client = clients[sender] else { return admit(sender, with: call) }
        guard client.credentials == nil else { return perform(call) }
        guard client.pendingCalls.count < Limit.heldCalls else { return send(.limitReached, to: Caller(call)) }
        _ = clients.update(sender) { $0.pendingCalls.append(call) }
    }

    private mutating func receiveSignal(_ signal: BusMessage) {
        switch (signal.interface, signal.member) {
        case (Self.bus, "NameOwnerChanged"):
            guard signal.sender == Self.bus, signal.body.count == 3, signal.body[2].text == "",
                let name = signal.body[0].text
            else { return }
            removeClient(name)
        case (ObjectTree.properties, "PropertiesChanged"):
            switch signal.body.first?.text {
            case BlueZ.characteristic: noteChangedValue(signal)
            case BlueZ.advertisement: noteChangedAdvertisement(signal)
            default: break
            }
        case (ObjectTree.objectManager, "InterfacesAdded"): addMonitor(signal)
        case (ObjectTree.objectManager, "InterfacesRemoved"): removeMonitor(signal)
        default: break
        }
    }
}
