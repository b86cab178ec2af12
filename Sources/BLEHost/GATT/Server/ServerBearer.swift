import BLEWire

/// The server's side of one bearer: the request that is being answered, and the outgoing values.
struct ServerBearer {
    let id: BearerID
    /// The MTU, in octets; `nil` for the unenhanced bearer, which negotiates it.
    private(set) var mtu: Int?
    var exchange: ATTServerBearer<ServerLink.Pending>
    var indications: IndicationQueue
    var updates: OutgoingUpdates

    init(_ id: BearerID, mtu: Int? = nil, limits: Limits) {
        self.id = id
        self.mtu = mtu
        exchange = ATTServerBearer(limit: limits.peerRequests)
        indications = IndicationQueue(limit: limits.queuedIndications)
        updates = OutgoingUpdates(limit: limits.gatheredValues)
    }

    /// Sets a new MTU of an enhanced bearer.
    mutating func resize(to mtu: Int) { self.mtu = mtu }
}
