import BLEWire

/// The host's state of one link.
struct LinkState {
    /// The phase of a link.
    enum Phase: Equatable {
        /// The MTU is being negotiated, and clients have not been told about the link yet.
        case settling
        case up
        /// The link was released. It ends at this time, or earlier if all accepted data have been sent and all channels
        /// are closed.
        case released(until: Instant)
        /// The controller was asked to end the link, and must do so by `due`. The failure is the reason; `nil` if a
        /// client requested the end.
        case closing(due: Instant, Failure?)
    }

    /// The maximum time that a controller may take to end a link: slightly more than the longest supervision timeout.
    static let closingTimeout = Duration.seconds(40)
    /// The maximum time from the release of a link to its end: the time for channels to drain, and for the peer's
    /// response.
    static let releaseTimeout = CreditChannel.drainTimeout + .seconds(1)

    let peer: PeerIdentifier
    let address: DeviceAddress
    /// The addresses that this host and the peer used over the air when the link was made; pairing uses these
    /// addresses.
    private(set) var onAir: (local: DeviceAddress, peer: DeviceAddress)
    /// True if the controller generated the local over-the-air address.
    private let hasGeneratedAddress: Bool
    let role: LinkRole
    private(set) var phase = Phase.settling
    /// The reassembly of packets.
    ///
    /// Each reassembled packet has room for an H4 and ACL header before it, as if the packet had arrived in one piece.
    var reassembler = Reassembler(room: ACLHeader.h4Size)
    /// The pending requests to the controller about the link, and its details.
    var control: LinkControl
    var encryption = LinkEncryption()
    /// The short connection interval at the beginning of the link.
    var fastStart = FastStart()
    /// The strength of the key that the link is encrypted with; `nil` until the link is encrypted with a bond's key, or
    /// a pairing is complete.
    private(set) var strength: PairingStrength?

    /// Creates the state of a link to `peer`.
    ///
    /// `address` is the address of this host that the peer sees, unless the controller generated another address.
    init(_ link: NewLink, to peer: PeerIdentifier, as address: DeviceAddress) {
        self.peer = peer
        self.address = link.details.address
        onAir = (link.localPrivateAddress ?? address, link.peerOnAir)
        hasGeneratedAddress = link.localPrivateAddress != nil
        control = LinkControl(link.details)
        role = link.role
    }

    /// The details of the link, as reported by the controller.
    var details: LinkDetails { control.details }

    /// Records the address of this host with which the link was made, unless the controller generated another address.
    mutating func noteLocalAddress(_ address: DeviceAddress) {
        if !hasGeneratedAddress { onAir.local = address }
    }

    /// Records that the controller was given a key to encrypt the link with; `key` is the origin of the key.
    mutating func beginEncryption(with key: LinkEncryption.Key, at now: Instant) {
        encryption.begin(with: key, until: now + LinkEncryption.timeout(details.interval, details.latency))
    }

    /// Records the strength of the key that the link is encrypted with.
    mutating func secured(with strength: PairingStrength) { self.strength = strength }

    /// Records that the MTU is settled; returns `false` if it was settled before, or if the link is ending.
    mutating func mtuSettled() -> Bool {
        guard phase == .settling else { return false }
        phase = .up
        return true
    }

    /// Releases the link, which ends once its accepted data have been sent; returns `false` if the link is already
    /// ending.
    mutating func release(at now: Instant) -> Bool {
        guard !isClosing else { return false }
        phase = .released(until: now + Self.releaseTimeout)
        return true
    }

    /// Records that the controller is asked to end the link; returns `false` if it was asked before.
    ///
    /// `failure` is `nil` if a client requested the end.
    mutating func close(for failure: Failure?, at now: Instant) -> Bool {
        if case .closing = phase { return false }
        phase = .closing(due: now + Self.closingTimeout, failure)
        return true
    }

    /// True if this host is ending the link.
    var isClosing: Bool {
        switch phase {
        case .released, .closing: true
        case .settling, .up: false
        }
    }

    /// True if the link ends as soon as its accepted data have been sent.
    var isReleased: Bool {
        if case .released = phase { true } else { false }
    }

    /// Returns the failure for the end of a link with this HCI reason.
    ///
    /// If this host has asked the controller to end the link, the controller reports only this request as the reason;
    /// the actual failure was recorded with the request. Any other reason means that the link ended for that reason
    /// before the controller could end it.
    ///
    /// Core 6.0, Vol 1, Part F, 2.22.
    func failure(_ reason: HCI.Status) -> Failure {
        if case .closing(_, let failure?) = phase, reason == .connectionTerminatedByLocalHost { return failure }
        return encryption.startingKey == .bond ? .bondRefused(reason) : .hci(reason)
    }

    /// True while the reassembler holds part of a packet.
    ///
    /// `mutating` to avoid a copy.
    var isCollecting: Bool { mutating get { reassembler.isCollecting } }

    /// The time at which the current phase or an attempt to encrypt times out, or the short connection interval may
    /// end; `nil` if nothing is due.
    var deadline: Instant? {
        switch phase {
        case .released(let due), .closing(let due, _): return due
        case .settling, .up:
            var least = encryption.deadline
            least.bringForward(to: fastStart.deadline)
            return least
        }
    }
}

extension Failure {
    /// Returns the failure for a link that could not be encrypted with the key of the peer's bond.
    ///
    /// Controllers report in two different ways that the peer has no such key. The method returns the same failure for
    /// both.
    static func bondRefused(_ status: HCI.Status) -> Self {
        .hci(status == .authenticationFailure ? .pinOrKeyMissing : status)
    }
}
