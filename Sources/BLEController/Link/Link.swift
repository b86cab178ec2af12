import BLEWire

/// A connection with both of its ends, which exchange packets in connection events.
///
/// Each event starts at an anchor point.
///
/// Both ends are stored in one value, because a packet from one end can be received only by the other. The connection
/// may be over for one end before the other end notices, and a peripheral may have missed a change of timing.
///
/// Core 6.0, Vol 6, Part B, 4.5.
struct Link: Sendable {
    /// The timing of a connection.
    struct Timing: Equatable, Sendable {
        /// The connection interval, in units of 1.25 ms.
        var interval: UInt16
        var latency: UInt16
        /// The supervision timeout, in units of 10 ms.
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
    /// The PHY from central to peripheral.
    var centralPHY: AirPHY
    /// The PHY from peripheral to central.
    var peripheralPHY: AirPHY
    /// The number of the current connection event, or of the next one if no event is running.
    private(set) var counter: UInt16 = 0
    /// The anchor point of event ``counter``.
    private(set) var anchor: Instant
    /// The time of the central's next packet.
    private(set) var nextExchange: Instant
    private var central: LinkEnd
    private var peripheral: LinkEnd
    /// The mean signal strengths in dBm: of the central's packets at the peripheral (`down`), and of the peripheral's
    /// packets at the central (`up`).
    var strengths: (down: Int, up: Int) = (-40, -40)
    /// True if ``Air/partition`` keeps the two controllers from receiving each other.
    var isPartitioned = false
    /// The token of the latest schedule entry for this connection.
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
        centralPHY = phy
        peripheralPHY = phy
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

    /// The channel of event ``counter``.
    var channel: UInt8 { selection.channel(counter: counter, accessAddress: accessAddress, map: channelMap) }

    /// True if the ends can exchange packets: both are present, and the peripheral knows the timing.
    @inline(__always)
    var canExchange: Bool { central.isPresent && peripheral.isPresent && !peripheral.hasLostTiming }

    /// True if the connection is over for both ends.
    @inline(__always)
    var isAbandoned: Bool { !central.isPresent && !peripheral.isPresent }

    /// Returns the controller and the connection handle of the end in this role, without copying the ``LinkEnd``.
    @inline(__always)
    func owner(of role: Role) -> (controller: Int, handle: ConnectionHandle) {
        switch role {
        case .central: (central.controller, central.handle)
        case .peripheral: (peripheral.controller, peripheral.handle)
        }
    }

    /// Returns the number of fragments, queued or in flight, from the host at the end with this role.
    ///
    /// Does not copy the ``LinkEnd``.
    @inline(__always)
    func fragments(of role: Role) -> Int {
        switch role {
        case .central: central.outgoing.count
        case .peripheral: peripheral.outgoing.count
        }
    }

    // The members that every connection event uses are inlined, because passing a link to a function copies it with
    // both ends.

    /// The time of the next activity on this link: an exchange, a connection event or a timeout.
    @inline(__always)
    var due: Instant {
        var due = canExchange ? nextExchange : Instant(nanoseconds: .max)
        for role in Role.both where self[role].isPresent {
            due = min(due, expiry(of: role).instant)
            if let deadline = self[role].payloadDeadline { due = min(due, deadline) }
        }
        return due
    }

    /// Returns whether a connection event begins at `now` and the central has a pending change, which may take effect
    /// then.
    @inline(__always)
    func mayChange(at now: Instant) -> Bool {
        canExchange && nextExchange <= now && nextExchange == anchor && central.change != nil
    }

    /// Records that an exchange is over and that the next one of the same connection event starts at `instant`.
    mutating func continueEvent(at instant: Instant) { nextExchange = instant }

    /// Records that the connection event is over, and advances to the next one.
    @inline(__always)
    mutating func closeEvent() {
        counter &+= 1
        anchor = anchor + timing.intervalNanoseconds
        nextExchange = anchor
    }

    /// Moves the next anchor point by the offset that a change of timing contains.
    mutating func moveAnchor(by offset: Duration) {
        anchor = anchor + offset
        nextExchange = anchor
    }
}

/// The HCI status codes that the link layer itself sets when it ends a connection, or when a procedure fails or is
/// rejected.
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

// The timeouts of an end that does not receive the packets that it waits for.
extension Link {
    /// Returns the role of an end that has timed out by `now`, and the reason; `nil` if neither end has timed out.
    @inline(__always)
    func expired(by now: Instant) -> (role: Role, status: LinkStatus)? {
        for role in Role.both where self[role].isPresent {
            let (instant, status) = expiry(of: role)
            if instant <= now { return (role, status) }
        }
        return nil
    }

    /// Returns the time at which an end times out unless it receives another packet, and the reason.
    @inline(__always)
    func expiry(of role: Role) -> (instant: Instant, status: LinkStatus) {
        if !self[role].isEstablished {
            // Core 6.0, Vol 6, Part B, 4.5.2: six intervals without a packet.
            return (created + 6 * timing.intervalNanoseconds, .failedToBeEstablished)
        }
        var result = (self[role].lastReceived + timing.timeoutNanoseconds, LinkStatus.connectionTimeout)
        if let deadline = self[role].responseDeadline, deadline < result.0 { result = (deadline, .responseTimeout) }
        if let termination = self[role].control.termination, termination.deadline < result.0 {
            result = (termination.deadline, .terminatedByLocalHost)
        }
        return result
    }
}
