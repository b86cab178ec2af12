import BLECrypto
import BLEWire

/// One end of a connection: the state that its controller keeps for the connection.
struct LinkEnd: Sendable {
    let controller: Int
    let handle: ConnectionHandle
    let profile: ControllerIdentity.Profile
    /// True until the connection is over for this end.
    var isPresent = true
    /// True if this end has missed a change of timing, channels or PHYs; it then no longer receives anything.
    var hasLostTiming = false
    var acknowledgement = Acknowledgement()
    var outgoing = OutgoingData()
    var control = LinkControl()
    private var encryptionBox: EncryptionBox?
    var lengths: DataLengths
    /// The time at which this end last received a packet; before the first packet, the time at which the end was
    /// created.
    var lastReceived: Instant
    /// True if this end has ever received a packet.
    var isEstablished = false
    /// The number of connection events that this end, a peripheral, may still skip.
    var eventsToSkip = 0
    /// The change that takes effect at an agreed instant; `nil` if none is agreed.
    var change: LinkChange?
    /// The sets of PHYs that this end's host prefers for sending and receiving.
    var preference: LL.PHYPreference
    /// True if the host prefers 500 kb/s to 125 kb/s on the Coded PHY.
    var prefersCodedTwo = false
    /// The authenticated payload timeout that the host has set.
    var payloadTimeout = AuthenticatedPayloadTimeout.standard
    /// The peripheral's reason for closing the connection, until this end, the central, acknowledges the termination.
    ///
    /// The value is `nil` if the peripheral is not closing the connection.
    var terminationReason: UInt8?

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
        lastReceived = now
    }

    /// The encryption state of this end.
    ///
    /// A link that was never encrypted stores none.
    var encryption: LinkEncryption {
        get { encryptionBox?.encryption ?? LinkEncryption() }
        set { encryptionBox = .encryption(newValue) }
    }

    /// The time at which this end closes the connection unless the peer responds first; `nil` if no response is due.
    var responseDeadline: Instant? {
        guard let encryptionBox, let deadline = encryptionBox.encryption.peripheral.deadline else {
            return control.deadline
        }
        return min(deadline, control.deadline ?? deadline)
    }

    /// The time at which the authenticated payload timer is due; `nil` if the timer is off.
    var payloadDeadline: Instant? { encryptionBox?.encryption.payloadTimer.deadline(timeout: payloadTimeout.duration) }

    /// Advances the authenticated payload timer if it is due, and returns the action that the caller must take.
    mutating func expirePayloadTimer(at now: Instant) -> AuthenticatedPayloadTimer.OnExpire {
        guard let deadline = payloadDeadline, deadline <= now else { return .nothing }
        return encryption.payloadTimer.expire(at: now, timeout: payloadTimeout.duration)
    }

    /// The length of the message integrity code of outgoing packets, in octets.
    var codeLength: Int { encryptionBox?.encryption.isOn == true ? CCM.codeLength : 0 }

    /// Returns the maximum number of data octets in one packet on `phy`.
    func transmitLimit(_ phy: AirPHY) -> Int {
        lengths.transmitLimit(phy, codeLength: codeLength)
    }

    /// Returns the length of the packet that this end would send now, with its message integrity code, in octets.
    ///
    /// If `isAcknowledged` is true, this is the packet after the one in flight.
    func nextLength(_ phy: AirPHY, isAcknowledged: Bool = false) -> Int {
        let isHeld = encryptionBox?.encryption.isUnderWay ?? false
        var sent = 0
        switch acknowledgement.inFlight {
        case .data(let count)?:
            if !isAcknowledged { return count + codeLength }
            sent = count
        case .control(let packet)? where !isAcknowledged: return packet.length + codeLength
        case .empty? where !isAcknowledged: return 0
        case .control?, .empty?, nil: break
        }
        if let packet = control.upcomingPacket(ofEncryption: isHeld) { return packet.length + codeLength }
        guard !isHeld, let count = outgoing.next(limit: transmitLimit(phy), after: sent) else { return 0 }
        return count + codeLength
    }

    /// Returns the packet that this end sends now: the packet in flight again if the peer has not acknowledged it,
    /// otherwise the next packet.
    ///
    /// If the next packet takes more than `room` nanoseconds, the result is an empty packet instead. `room` is `nil` if
    /// there is no limit.
    mutating func transmit(_ phy: AirPHY, within room: Int64? = nil) -> Transmission {
        let isHeld = encryptionBox?.encryption.isUnderWay ?? false
        if acknowledgement.inFlight == nil {
            if let room, phy.airTime(nextLength(phy)) > room {
                acknowledgement.send(.empty)
                if encryptionBox != nil { encryption.sealed = nil }
            } else {
                load(phy, isHeld: isHeld)
            }
        }
        let payload = acknowledgement.inFlight ?? .empty, sealed = encryptionBox?.encryption.sealed
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

    /// Chooses the next packet of this end: a control PDU if one is queued, otherwise data from the host, otherwise an
    /// empty packet.
    ///
    /// `isHeld` is true during an encryption procedure, when no data may be sent.
    private mutating func load(_ phy: AirPHY, isHeld: Bool) {
        if let packet = control.nextPacket(ofEncryption: isHeld) {
            acknowledgement.send(.control(packet))
        } else if !isHeld, let count = outgoing.next(limit: transmitLimit(phy)) {
            acknowledgement.send(.data(count: count))
        } else {
            acknowledgement.send(.empty)
        }
        if encryptionBox != nil { encryption.sealed = seal() }
    }

    /// Returns the encrypted octets of the packet in flight; `nil` if the link is not encrypted or the packet is empty.
    private mutating func seal() -> [UInt8]? {
        switch acknowledgement.inFlight {
        case .empty?, nil: return nil
        case .control(let packet)?: return encryption.sending?.seal(packet.encoded[...], .control)
        case .data(let count)?:
            let (octets, isStart) = outgoing.octets(count)
            return encryption.sending?.seal(octets, isStart ? .start : .continuation)
        }
    }

    /// Returns the payload of a received packet: the decrypted octets of `sealed` if the peer has encrypted the packet,
    /// otherwise `plain`.
    ///
    /// Returns `nil` if only one of the two ends uses encryption, the keys differ, or the packet is not allowed during
    /// an encryption procedure.
    mutating func authentic(
        _ plain: ArraySlice<UInt8>,
        _ sealed: [UInt8]?,
        _ content: LL.DataHeader.Content,
        at instant: Instant
    ) -> ArraySlice<UInt8>? {
        guard let encryptionBox else { return sealed == nil ? plain : nil }
        if content != .control, encryptionBox.encryption.isExclusive { return nil }
        guard let sealed else { return encryptionBox.encryption.receiving == nil ? plain : nil }
        guard let octets = encryption.receiving?.open(sealed, content) else { return nil }
        encryption.payloadTimer.restart(at: instant)
        return octets[...]
    }

    /// True if this end has a packet to send other than an empty one, now or after an encryption procedure.
    var hasSomethingToSend: Bool {
        control.hasPacket(ofEncryption: false) || outgoing.count > 0 || isSending
    }

    /// True if this end sends a packet other than an empty one in the next exchange.
    ///
    /// During an encryption procedure, data and other procedures wait, sometimes until a host responds.
    var canSendSomething: Bool {
        guard encryptionBox?.encryption.isUnderWay == true else { return hasSomethingToSend }
        return control.hasPacket(ofEncryption: true) || isSending
    }

    /// True if a packet other than an empty one has been sent and not yet acknowledged.
    private var isSending: Bool { acknowledgement.inFlight.map { $0 != .empty } ?? false }
}

/// An outgoing packet.
struct Transmission {
    var payload: Acknowledgement.Payload
    /// The encrypted payload; `nil` if the packet is not encrypted.
    var sealed: [UInt8]?
    var bits: Acknowledgement.Bits
    var length: Int
    var moreData: Bool
}

/// A change that takes effect at both ends at an agreed instant.
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

/// The role of one end of a connection.
enum Role: Int, Sendable {
    case central = 0, peripheral = 1

    static let both: [Self] = [.central, .peripheral]
    var other: Self { self == .central ? .peripheral : .central }
}
