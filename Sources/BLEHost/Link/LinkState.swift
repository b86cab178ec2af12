import BLEWire

/// The host's state of one link.
struct LinkState {
    /// The phase of a link.
    enum Phase: Equatable {
        /// The MTU is being negotiated, and clients were not told of the link.
        case settling
        case up
        /// The link was released. It ends when all accepted data were sent and channels are closed, or at this time.
        case parting(until: Instant)
        /// The controller was asked to end the link; with a failure, unless a client requested it.
        case closing(due: Instant, Failure?)
    }

    /// The maximum time for a controller to end a link: slightly more than the longest supervision timeout.
    static let closingPatience = Duration.seconds(40)
    /// The maximum time for accepted data after a link was released: the time for channels to drain, and for the peer's
    /// response.
    static let partingPatience = CreditChannel.drainPatience + .seconds(1)

    let peer: PeerIdentifier
    let address: DeviceAddress
    /// The over-the-air addresses of both ends when the link was made, which pairing uses.
    private(set) var onAir: (local: DeviceAddress, peer: DeviceAddress)
    /// True if the controller generated the local address.
    private let hasMadeAddress: Bool
    let role: LinkRole
    private(set) var phase = Phase.settling
    /// Reassembled packets get the headers that they would have had as one packet.
    var reassembler = Reassembler(room: ACLHeader.h4Size)
    /// The pending requests to the controller about the link, and its details.
    var control: LinkControl
    /// The encryption of the link.
    var encryption = LinkEncryption()
    /// The strength of the key that the link is encrypted with.
    private(set) var strength: PairingStrength?

    /// Creates the state of a link to `peer`, on which strangers see this host as `address`.
    init(_ link: NewLink, to peer: PeerIdentifier, as address: DeviceAddress) {
        self.peer = peer
        self.address = link.details.address
        onAir = (link.localPrivateAddress ?? address, link.peerOnAir)
        hasMadeAddress = link.localPrivateAddress != nil
        control = LinkControl(link.details)
        role = link.role
    }

    /// The details of the link, as reported by the controller.
    var details: LinkDetails { control.details }

    /// Records the own address with which the link was made, unless the controller generated another one.
    mutating func showed(_ address: DeviceAddress) {
        if !hasMadeAddress { onAir.local = address }
    }

    /// The controller was given this key to encrypt the link with.
    mutating func beginEncryption(with key: LinkEncryption.Key, at now: Instant) {
        encryption.begin(with: key, until: now + LinkEncryption.patience(details.interval, details.latency))
    }

    /// Records the strength of the key that the link is encrypted with.
    mutating func secured(with strength: PairingStrength) { self.strength = strength }

    /// Records that the MTU is settled; returns `false` if it already was, or if the link is ending.
    mutating func mtuSettled() -> Bool {
        guard phase == .settling else { return false }
        phase = .up
        return true
    }

    /// Releases the link, which ends when its accepted data were sent; returns `false` if it is already ending.
    mutating func part(at now: Instant) -> Bool {
        guard !isClosing else { return false }
        phase = .parting(until: now + Self.partingPatience)
        return true
    }

    /// Records that the controller is asked to end the link, with a failure unless a client requested it; returns
    /// `false` if it already was.
    mutating func close(for failure: Failure?, at now: Instant) -> Bool {
        if case .closing = phase { return false }
        phase = .closing(due: now + Self.closingPatience, failure)
        return true
    }

    /// True if this host is ending the link.
    var isClosing: Bool {
        switch phase {
        case .parting, .closing: true
        case .settling, .up: false
        }
    }

    /// True if the link ends when its accepted data were sent.
    var isParting: Bool {
        if case .parting = phase { true } else { false }
    }

    /// Returns the failure for the end of a link with this HCI reason.
    ///
    /// If the controller was asked to end the link, it only reports that its host did so; the actual failure is stored
    /// here. Any other reason came first.
    ///
    /// Core 6.0, Vol 1, Part F, 2.22.
    func failure(_ reason: HCI.Status) -> Failure {
        if case .closing(_, let failure?) = phase, reason == .connectionTerminatedByLocalHost { return failure }
        return encryption.startingKey == .bond ? .bondRefused(reason) : .hci(reason)
    }

    /// True while a packet is incomplete.
    ///
    /// `mutating` to avoid a copy.
    var isCollecting: Bool { mutating get { reassembler.isCollecting } }

    /// The next time at which something is due.
    var deadline: Instant? {
        switch phase {
        case .parting(let due), .closing(let due, _): due
        case .settling, .up: encryption.deadline
        }
    }
}

extension Failure {
    /// Why a link to a bonded peer is not encrypted with the key of the bond.
    ///
    /// Controllers say that the peer has no such key in one of two ways.
    static func bondRefused(_ status: HCI.Status) -> Self {
        .hci(status == .authenticationFailure ? .pinOrKeyMissing : status)
    }
}
