import BLEWire

/// The server's side of one link: what the peer prepared, configured and waits for.
struct ServerLink {
    /// An answer that waits for clients.
    struct Pending {
        /// The request that is to be answered, and the attribute that an error names.
        let request: ATT.Opcode
        let handle: AttributeHandle
        var answer: Answer
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

    var bearer: ATTServerBearer<Pending>
    var configurations = ClientConfigurations()
    var prepared: PreparedWrites
    var indications: IndicationQueue
    var updates = Fifo<Update>()
    var security = LinkSecurity.unencrypted

    init(limits: Limits) {
        bearer = ATTServerBearer(limit: limits.peerRequests)
        prepared = PreparedWrites(limit: limits.preparedParts)
        indications = IndicationQueue(limit: limits.queuedIndications)
    }

    /// What the values that the peer may read depend on.
    var view: GATTDatabase.View { GATTDatabase.View(security: security, configurations: configurations) }
}
