import BLEWire

/// What a host keeps of one link.
struct LinkState {
    /// How far a link is.
    enum Phase: Equatable {
        /// The ends have not agreed on the size of ATT packets yet: clients have not heard of the link.
        case settling
        case up
        /// Somebody has ended the link; what was accepted for it goes out and its channels are closed first, or it ends
        /// then if that takes longer.
        case parting(until: Instant)
        /// The controller was asked to end the link, which is due; on account of a failure, unless somebody wanted it.
        case closing(due: Instant, Failure?)
    }

    /// How long the controller may take to end a link: the longest supervision timeout, and then some.
    static let closingPatience = Duration.seconds(40)
    /// How long the end of a link waits for what was accepted for it: as long as its channels may drain, and for the
    /// peer's answer then.
    static let partingPatience = CreditChannel.drainPatience + .seconds(1)

    let peer: PeerIdentifier
    let address: DeviceAddress
    /// The addresses that the two ends had on the air when the link was made, with which pairing counts.
    private(set) var onAir: (local: DeviceAddress, peer: DeviceAddress)
    /// Whether the controller made the local one of them.
    private let hasMadeAddress: Bool
    let role: LinkRole
    private(set) var phase = Phase.settling
    /// Packets get the headers back that they would have come with in one piece.
    var reassembler = Reassembler(room: ACLHeader.h4Size)
    /// What was asked of the controller about the link, and what it told.
    var control: LinkControl
    /// How far the link is encrypted.
    var encryption = LinkEncryption()
    /// What the key is worth that the link is encrypted with.
    private(set) var strength: PairingStrength?

    /// Creates the state of a link to `peer` on which strangers see this host as `address`.
    init(_ link: NewLink, to peer: PeerIdentifier, as address: DeviceAddress) {
        self.peer = peer
        self.address = link.details.address
        onAir = (link.localPrivateAddress ?? address, link.peerOnAir)
        hasMadeAddress = link.localPrivateAddress != nil
        control = LinkControl(link.details)
        role = link.role
    }

    /// What the link is like, as far as the controller has told.
    var details: LinkDetails { control.details }

    /// The link was made with this address of this host, unless the controller made another one for it.
    mutating func showed(_ address: DeviceAddress) {
        if !hasMadeAddress { onAir.local = address }
    }

    /// The controller was given this key to encrypt the link with.
    mutating func beginEncryption(with key: LinkEncryption.Key, at now: Instant) {
        encryption.begin(with: key, until: now + LinkEncryption.patience(details.interval, details.latency))
    }

    /// The link is encrypted with a key that is worth this.
    mutating func secured(with strength: PairingStrength) { self.strength = strength }

    /// The ends have agreed on the size of ATT packets; `false` if that is nothing new, or the link ends.
    mutating func mtuSettled() -> Bool {
        guard phase == .settling else { return false }
        phase = .up
        return true
    }

    /// Somebody ends the link, when what was accepted for it has gone; `false` if it ends already.
    mutating func part(at now: Instant) -> Bool {
        guard !isClosing else { return false }
        phase = .parting(until: now + Self.partingPatience)
        return true
    }

    /// The controller is asked to end the link, for `failure` unless somebody wanted it; `false` if it was before.
    mutating func close(for failure: Failure?, at now: Instant) -> Bool {
        if case .closing = phase { return false }
        phase = .closing(due: now + Self.closingPatience, failure)
        return true
    }

    /// Whether the link ends on account of this host.
    var isClosing: Bool {
        switch phase {
        case .parting, .closing: true
        case .settling, .up: false
        }
    }

    /// Whether the link ends as soon as what was accepted for it has gone.
    var isParting: Bool {
        if case .parting = phase { true } else { false }
    }

    /// Why the link has ended, if the controller gives this reason for it.
    ///
    /// A controller that was asked to end a link says only that its host did so; what the host did it for is known here
    /// alone. Any other reason came first.
    ///
    /// Core 6.0, Vol 1, Part F, 2.22.
    func failure(_ reason: HCI.Status) -> Failure {
        if case .closing(_, let failure?) = phase, reason == .connectionTerminatedByLocalHost { return failure }
        return encryption.startingKey == .bond ? .bondRefused(reason) : .hci(reason)
    }

    /// Whether a part of a packet has come; mutating, so that it is looked at where it lies.
    var isCollecting: Bool { mutating get { reassembler.isCollecting } }

    /// When something is due, if nothing happens before.
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
