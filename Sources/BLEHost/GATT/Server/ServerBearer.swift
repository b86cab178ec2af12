import BLEWire

/// The server's part of one bearer: the request that is being answered, and the values to send.
struct ServerBearer {
    let id: BearerID
    /// The MTU, in octets; `nil` for the unenhanced bearer, whose MTU is negotiated.
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

    /// Records that the MTU of an enhanced bearer has changed.
    mutating func resize(to mtu: Int) { self.mtu = mtu }
}
