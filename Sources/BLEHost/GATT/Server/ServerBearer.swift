import BLEWire

/// The server's side of one bearer: the request that is being answered, and the values that the peer is sent.
struct ServerBearer {
    let id: BearerID
    /// The largest packet that both ends take, in octets; `nil` for the unenhanced bearer, whose ends negotiate it.
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

    /// The ends of an enhanced bearer have agreed on another size.
    mutating func resize(to mtu: Int) { self.mtu = mtu }
}
