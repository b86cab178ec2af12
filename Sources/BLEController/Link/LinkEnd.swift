import BLECrypto
import BLEWire

/// One end of a connection: what a controller knows of it.
struct LinkEnd: Sendable {
    let controller: Int
    let handle: ConnectionHandle
    let profile: ControllerIdentity.Profile
    /// Whether this end still takes part.
    var isPresent = true
    /// Whether this end missed a change of timing and so meets nobody any more.
    var isAstray = false
    var acknowledgement = Acknowledgement()
    var outgoing = OutgoingData()
    var control = LinkControl()
    private var kept: KeptApart?
    var lengths: DataLengths
    /// When this end last heard the other, or when it was made.
    var lastHeard: Instant
    /// Whether this end ever heard the other.
    var isEstablished = false
    /// How many events a peripheral may still stay away from.
    var eventsToSkip = 0
    /// What will change at an instant that both ends agreed on.
    var change: LinkChange?
    /// The PHYs that the host of this end would like, as sets.
    var preference: LL.PHYPreference
    /// Whether the host would have the Coded PHY at 500 kb/s.
    var prefersCodedTwo = false
    /// How long the host would have an encrypted link go without an authentic packet.
    var payloadTimeout = AuthenticatedPayloadTimeout.standard
    /// The reason with which the peripheral left; this end, the central, still has to acknowledge that.
    var farewell: UInt8?

    init(
        controller: Int,
        handle: ConnectionHandle,
        profile: ControllerIdentity.Profile,
        lengths: DataLengths,
        preference: LL.PHYPreference,
        at now: Instant
    ) {
        self.controller = controller
        self.handle = handle
        self.profile = profile
        self.lengths = lengths
        self.preference = preference
        lastHeard = now
    }

    /// How this end is encrypted; that of a link that never was costs nothing.
    var encryption: LinkEncryption {
        get { kept?.encryption ?? LinkEncryption() }
        set { kept = .encryption(newValue) }
    }

    /// When this end gives up waiting for what the other has to say.
    var responseDeadline: Instant? {
        guard let kept, let deadline = kept.encryption.peripheral.deadline else { return control.deadline }
        return min(deadline, control.deadline ?? deadline)
    }

    /// When to see whether anything authentic has come, if the link is encrypted.
    var payloadDeadline: Instant? { kept?.encryption.payloadTimer.deadline(timeout: payloadTimeout.duration) }

    /// Does what is due when nothing authentic has come.
    mutating func expirePayloadTimer(at now: Instant) -> AuthenticatedPayloadTimer.OnExpire {
        guard let deadline = payloadDeadline, deadline <= now else { return .nothing }
        return encryption.payloadTimer.expire(at: now, timeout: payloadTimeout.duration)
    }

    /// How many octets the code of each packet takes that this end sends.
    var codeLength: Int { kept?.encryption.isOn == true ? CCM.codeLength : 0 }

    /// The most octets of data that one packet may carry when it is sent with `phy`.
    func transmitLimit(_ phy: AirPHY) -> Int {
        lengths.transmitLimit(phy, codeLength: codeLength)
    }

    /// Takes the packet that this end sends now: the one that is not acknowledged yet, or the next.
    mutating func transmit(_ phy: AirPHY) -> Transmission {
        let isHeld = kept?.encryption.isUnderWay ?? false
        if acknowledgement.inFlight == nil { load(phy, isHeld: isHeld) }
        let payload = acknowledgement.inFlight ?? .empty, sealed = kept?.encryption.sealed
        let length: Int, count: Int
        switch payload {
        case .empty: (length, count) = (0, 0)
        case .control(let packet): (length, count) = (packet.length, 0)
        case .data(let octets): (length, count) = (octets, octets)
        }
        return Transmission(
            payload: payload,
            sealed: sealed,
            bits: acknowledgement.bits,
            length: sealed?.count ?? length,
            moreData: control.hasPacket(ofEncryption: isHeld) || !isHeld && outgoing.hasMore(than: count)
        )
    }

    /// Decides what this end sends next.
    ///
    /// No data goes out while the link is being encrypted.
    private mutating func load(_ phy: AirPHY, isHeld: Bool) {
        if let packet = control.nextPacket(ofEncryption: isHeld) {
            acknowledgement.send(.control(packet))
        } else if !isHeld, let count = outgoing.next(limit: transmitLimit(phy)) {
            acknowledgement.send(.data(count: count))
        } else {
            acknowledgement.send(.empty)
        }
        if kept != nil { encryption.sealed = seal() }
    }

    /// The octets of what goes out, if it goes out encrypted; an empty packet has nothing to hide.
    private mutating func seal() -> [UInt8]? {
        switch acknowledgement.inFlight {
        case .empty?, nil: return nil
        case .control(let packet)?: return encryption.sending?.seal(packet.encoded[...], .control)
        case .data(let count)?:
            let (octets, isStart) = outgoing.octets(count)
            return encryption.sending?.seal(octets, isStart ? .start : .continuation)
        }
    }

    /// What this end hears in a payload that came `sealed`, or `plain`; `nil` if just one of the ends encrypts, if each
    /// does with another key, or if nothing of the kind may come while the link is being encrypted.
    mutating func authentic(
        _ plain: ArraySlice<UInt8>,
        _ sealed: [UInt8]?,
        _ content: LL.DataHeader.Content,
        at instant: Instant
    ) -> ArraySlice<UInt8>? {
        guard let kept else { return sealed == nil ? plain : nil }
        if content != .control, kept.encryption.isExclusive { return nil }
        guard let sealed else { return kept.encryption.receiving == nil ? plain : nil }
        guard let octets = encryption.receiving?.open(sealed, content) else { return nil }
        encryption.payloadTimer.restart(at: instant)
        return octets[...]
    }

    /// Whether this end has anything to say that is not an empty packet.
    var hasSomethingToSend: Bool {
        control.hasPacket(ofEncryption: false) || outgoing.count > 0
            || (acknowledgement.inFlight.map { $0 != .empty } ?? false)
    }
}

/// A packet as it goes out.
struct Transmission {
    var payload: Acknowledgement.Payload
    /// The octets on the air, if they are encrypted.
    var sealed: [UInt8]?
    var bits: Acknowledgement.Bits
    var length: Int
    var moreData: Bool
}

/// What changes at both ends with the connection event that an instant counts.
enum LinkChange: Equatable, Sendable {
    case timing(LL.ConnectionUpdate)
    case channels(LL.ChannelMapIndication)
    case phy(LL.PHYUpdate)

    var instant: UInt16 {
        switch self {
        case .timing(let update): update.instant
        case .channels(let indication): indication.instant
        case .phy(let update): update.instant
        }
    }
}
