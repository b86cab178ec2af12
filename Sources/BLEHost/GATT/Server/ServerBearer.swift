import BLEWire

/// The server's side of one bearer: the request that is being answered, and the values that the peer is sent.
struct ServerBearer {
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

    let id: BearerID
    /// The largest packet that both ends take, in octets; `nil` for the unenhanced bearer, whose ends negotiate it.
    private(set) var mtu: Int?
    var exchange: ATTServerBearer<ServerLink.Pending>
    var indications: IndicationQueue
    var updates = Fifo<Update>()
    /// Values that wait until the controller has taken those before, to be notified together.
    private(set) var ready: [Ready] = []

    init(_ id: BearerID, mtu: Int? = nil, limits: Limits) {
        self.id = id
        self.mtu = mtu
        exchange = ATTServerBearer(limit: limits.peerRequests)
        indications = IndicationQueue(limit: limits.queuedIndications)
    }

    /// The ends of an enhanced bearer have agreed on another size.
    mutating func resize(to mtu: Int) { self.mtu = mtu }

    /// Has a value wait.
    mutating func gather(_ value: Ready) { ready.append(value) }

    /// Takes the values that wait, oldest first.
    mutating func takeReady() -> [Ready] {
        defer { ready = [] }
        return ready
    }

    /// Takes those of one characteristic.
    mutating func takeReady(of handle: AttributeHandle) -> [Ready] {
        defer { ready.removeAll { $0.handle == handle } }
        return ready.filter { $0.handle == handle }
    }
}
