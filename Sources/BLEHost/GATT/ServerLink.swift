import BLEWire

/// The server's side of one link: what the peer prepared, configured and waits for.
struct ServerLink {
    /// An answer that waits for clients.
    struct Pending {
        /// The request that is to be answered, and the attribute that an error names.
        let request: ATT.Opcode
        let handle: AttributeHandle
        /// All attributes that are read or written, if that are several.
        var others: [AttributeHandle] = []
        var answer: Answer

        /// All attributes that are read or written.
        var handles: [AttributeHandle] { [handle] + others }
    }

    enum Answer {
        case reading(Asked, for: Reading)
        /// All of them have to agree before `values` are kept as well.
        case writing([Asked], values: [GATTDatabase.Keeping])
    }

    /// A client that was asked something.
    struct Asked: Equatable {
        let transaction: ServerTransaction
        let client: ClientID
    }

    /// What a value that a client gives is for.
    enum Reading: Equatable {
        case value
        case part
        case list
        case several(values: [[UInt8]], rest: [AttributeHandle])
    }

    /// A notification or indication of which the controller has not said yet that it took it.
    struct Update {
        let receipt: SendReceipt
        let number: UpdateLedger.Number
    }

    /// A value that is to be notified.
    struct Ready {
        let handle: AttributeHandle
        let value: [UInt8]
        let number: UpdateLedger.Number
    }

    var bearer: ATTServerBearer<Pending>
    var configurations = ClientConfigurations()
    var prepared: PreparedWrites
    var indications: IndicationQueue
    var updates = Fifo<Update>()
    /// Values that wait until the controller has taken those before, to be notified together.
    var ready: [Ready] = []
    var trust = LinkTrust(.unencrypted)
    var features: ClientFeatures = []
    var awareness = ChangeAwareness()
    /// Where services changed, while the peer has not yet confirmed that it knows.
    var pendingChange: AttributeHandleRange?

    init(limits: Limits) {
        bearer = ATTServerBearer(limit: limits.peerRequests)
        prepared = PreparedWrites(limit: limits.preparedParts)
        indications = IndicationQueue(limit: limits.queuedIndications)
    }

    /// What the values that the peer may read depend on.
    var view: GATTDatabase.View {
        GATTDatabase.View(trust: trust, configurations: configurations, features: features)
    }

    /// Whether the peer is told nothing but that services changed, and its commands are ignored, until it knows.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.2.1.
    var isHeldBack: Bool { !awareness.isAware && features.contains(.robustCaching) }

    /// Whether the values of a characteristic may go to the peer now, if it wants them.
    func takes(_ properties: CharacteristicProperties) -> Bool {
        let isProtected = !properties.isDisjoint(with: [.notifyEncryptionRequired, .indicateEncryptionRequired])
        return !isHeldBack && (!isProtected || trust.lack(of: .encrypted) == nil)
    }
}
