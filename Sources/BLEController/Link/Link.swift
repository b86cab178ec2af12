import BLEWire

/// A connection: two ends that meet at anchor points, which the central lays down.
///
/// Both ends live in one value, since what one sends is exactly what the other may hear: a packet costs no search.
/// Either end may be gone without the other knowing, and a peripheral may have gone astray.
///
/// Core 6.0, Vol 6, Part B, 4.5.
struct Link: Sendable {
    /// The timing of a connection.
    struct Timing: Equatable, Sendable {
        /// In units of 1.25 ms.
        var interval: UInt16
        var latency: UInt16
        /// In units of 10 ms.
        var timeout: UInt16

        var intervalNanoseconds: Int64 { Int64(interval) &* Spacing.slot }
        var timeoutNanoseconds: Int64 { Int64(timeout) &* 10_000_000 }
        var intervalDuration: Duration { .nanoseconds(intervalNanoseconds) }
        var timeoutDuration: Duration { .nanoseconds(timeoutNanoseconds) }
    }

    let accessAddress: UInt32
    let selection: ChannelSelection
    let created: Instant
    var timing: Timing
    var channelMap: UInt64
    /// How the central sends.
    var down: AirPHY
    /// How the peripheral sends.
    var up: AirPHY
    /// Counts connection events: this one if one is under way, else the next.
    private(set) var counter: UInt16 = 0
    /// The anchor point of the event that ``counter`` counts.
    private(set) var anchor: Instant
    /// When the next packet of the central is due.
    private(set) var nextExchange: Instant
    private var central: LinkEnd
    private var peripheral: LinkEnd
    /// The mean strength in dBm with which the peripheral hears the central, and the other way round.
    var strengths: (down: Int, up: Int) = (-40, -40)
    /// Whether the two are kept apart by something other than distance.
    var isPartitioned = false
    /// The schedule's latest entry for this connection.
    var token: UInt64 = 0

    init(
        accessAddress: UInt32,
        selection: ChannelSelection,
        timing: Timing,
        channelMap: UInt64,
        phy: AirPHY,
        created: Instant,
        anchor: Instant,
        central: LinkEnd,
        peripheral: LinkEnd
    ) {
        self.accessAddress = accessAddress
        self.selection = selection
        self.timing = timing
        self.channelMap = channelMap
        self.created = created
        down = phy
        up = phy
        self.anchor = anchor
        nextExchange = anchor
        self.central = central
        self.peripheral = peripheral
    }

    subscript(role: Role) -> LinkEnd {
        @inline(__always) get {
            switch role {
            case .central: central
            case .peripheral: peripheral
            }
        }
        @inline(__always) _modify {
            switch role {
            case .central: yield &central
            case .peripheral: yield &peripheral
            }
        }
    }

    /// The channel of the event that ``counter`` counts.
    var channel: UInt8 { selection.channel(counter: counter, accessAddress: accessAddress, map: channelMap) }

    /// Whether both ends meet at the next anchor point.
    @inline(__always)
    var isMeeting: Bool { central.isPresent && peripheral.isPresent && !peripheral.isAstray }

    /// Whether nobody is left.
    @inline(__always)
    var isAbandoned: Bool { !central.isPresent && !peripheral.isPresent }

    /// Whom an end belongs to, and what its host calls the connection; the end is looked at where it lies.
    @inline(__always)
    func owner(of role: Role) -> (controller: Int, handle: ConnectionHandle) {
        switch role {
        case .central: (central.controller, central.handle)
        case .peripheral: (peripheral.controller, peripheral.handle)
        }
    }

    /// How many fragments of the host of an end wait, or are in flight; the end is looked at where it lies.
    @inline(__always)
    func fragments(of role: Role) -> Int {
        switch role {
        case .central: central.outgoing.count
        case .peripheral: peripheral.outgoing.count
        }
    }

    // What every event asks is inlined: a link that is handed to a function is copied, ends and all.

    /// When something happens next on this connection.
    @inline(__always)
    var due: Instant {
        var due = isMeeting ? nextExchange : Instant(nanoseconds: .max)
        for role in Role.both where self[role].isPresent {
            due = min(due, expiry(of: role).instant)
            if let deadline = self[role].payloadDeadline { due = min(due, deadline) }
        }
        return due
    }

    /// Whether an event begins at `now` for which a change may have been agreed on.
    @inline(__always)
    func mayChange(at now: Instant) -> Bool {
        isMeeting && nextExchange <= now && nextExchange == anchor && central.change != nil
    }

    /// Notes that the packets of an exchange are over and the event goes on at `instant`.
    mutating func continueEvent(at instant: Instant) { nextExchange = instant }

    /// Notes that the event is over.
    @inline(__always)
    mutating func closeEvent() {
        counter &+= 1
        anchor = anchor + timing.intervalNanoseconds
        nextExchange = anchor
    }

    /// Lays the coming anchor point down anew, at a change of timing.
    mutating func moveAnchor(by offset: Duration) {
        anchor = anchor + offset
        nextExchange = anchor
    }
}

/// Why something on a connection came to an end: the codes of HCI that a link layer gives by itself.
///
/// Core 6.0, Vol 1, Part F, 2.
enum LinkStatus: UInt8, Sendable {
    case success = 0x00
    case pinOrKeyMissing = 0x06
    case connectionTimeout = 0x08
    case terminatedByLocalHost = 0x16
    case unsupportedRemoteFeature = 0x1A
    case invalidParameters = 0x1E
    case responseTimeout = 0x22
    case procedureCollision = 0x23
    case instantPassed = 0x28
    case differentTransactionCollision = 0x2A
    case micFailure = 0x3D
    case failedToBeEstablished = 0x3E
}
