import BLEWire

/// The GATT server's part of one link: the peer's prepared writes, Client Characteristic Configurations and pending
/// requests.
struct ServerLink {
    /// A request whose response waits for answers from clients.
    struct Pending {
        /// The opcode of the request.
        let request: ATT.Opcode
        /// The handle for an error response.
        let handle: AttributeHandle
        var answer: AwaitedAnswer

        /// The handles of all attributes that the request reads or writes.
        var handles: [AttributeHandle] {
            if case .executing(let execution) = answer { [handle] + execution.others } else { [handle] }
        }
    }

    /// The answer that a request still needs from an app.
    enum AwaitedAnswer {
        case reading(ClientQuery, for: Reading)
        case writing(ClientQuery)
        indirect case executing(Execution)
    }

    /// A request to execute prepared writes, which waits for clients to agree.
    struct Execution {
        /// The clients that must agree before ``values`` are stored.
        var asked: [ClientQuery]
        let values: [GATTDatabase.StoredValue]
        /// The handles of the prepared writes, except the first, which is ``Pending/handle``.
        let others: [AttributeHandle]
    }

    /// A client that was asked, and the transaction that identifies its answer.
    struct ClientQuery: Equatable {
        let transaction: ServerTransaction
        let client: ClientID
    }

    /// The kind of response for which a client is asked to provide a value.
    enum Reading: Equatable {
        case value
        case part
        case list
        indirect case several(values: [[UInt8]], rest: [AttributeHandle])
    }

    /// The bearers: first the unenhanced one, then the enhanced ones in the order in which they were opened.
    var bearers: [ServerBearer]
    /// The bearer that the values of each characteristic are sent on.
    private var routes: [(value: AttributeHandle, bearer: BearerID)] = []
    var configurations = ClientConfigurations()
    /// The clients of this host whose attributes or channels the peer has used.
    var clients = ServedClients()
    var prepared: PreparedWrites
    private(set) var features: ClientFeatures = []
    var awareness = ChangeAwareness()
    /// The changed range that was announced to the peer, but not confirmed yet; `nil` if there is none.
    private(set) var pendingChange: AttributeHandleRange?

    init(limits: Limits) {
        bearers = [ServerBearer(.unenhanced, limits: limits)]
        prepared = PreparedWrites(limit: limits.preparedParts)
    }

    /// Records the Client Supported Features that the peer has written.
    mutating func setFeatures(_ features: ClientFeatures) { self.features = features }

    /// Records that a change in a range is being announced to the peer.
    mutating func noteAnnouncement(ofChangeIn range: AttributeHandleRange) {
        pendingChange = pendingChange?.joined(with: range) ?? range
    }

    /// Records that the peer has confirmed every Service Changed indication so far.
    mutating func confirmedChange() {
        awareness.confirmedChange(onOnlyBearer: bearers.count == 1)
        pendingChange = nil
    }

    /// Returns the state of the peer that determines the results of its reads.
    ///
    /// `trust` is the security and authorization of the link.
    func peerState(on trust: LinkTrust) -> GATTDatabase.PeerState {
        GATTDatabase.PeerState(trust: trust, configurations: configurations, features: features)
    }

    /// True if the peer supports robust caching and is change-unaware.
    ///
    /// Such a peer gets no values except Service Changed, and its commands are ignored.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.2.1.
    var isBlockedUntilAware: Bool { !awareness.isAware && features.contains(.robustCaching) }

    /// Returns the index of the bearer whose pending request waits for the client to answer `asked`; `nil` if there is
    /// none.
    ///
    /// The method is `mutating` to avoid a copy.
    mutating func bearer(awaiting asked: ClientQuery) -> Int? {
        bearers.firstIndex { $0.exchange.pending?.awaits(asked) ?? false }
    }

    /// Returns the value that the peer has written to the Client Characteristic Configuration at `configuration`; 0 if
    /// the peer currently may not receive values of the characteristic (`about`).
    mutating func configured(
        _ about: GATTDatabase.ConfiguredCharacteristic,
        at configuration: AttributeHandle,
        on trust: LinkTrust
    ) -> UInt16 {
        let bits = configurations[configuration]
        return bits != 0 && mayReceiveValues(of: about.properties, on: trust) ? bits : 0
    }

    /// Returns whether the peer may currently receive the values of a characteristic.
    private func mayReceiveValues(of properties: CharacteristicProperties, on trust: LinkTrust) -> Bool {
        let needed = properties.subscriptionRequirement
        guard needed.security != .unencrypted else { return !isBlockedUntilAware }
        return !isBlockedUntilAware && trust.missingSecurity(for: needed) == nil
    }

    /// Returns the index of the bearer on which to send values of the characteristic with value handle `value`.
    ///
    /// `mtu` is the MTU of the unenhanced bearer.
    ///
    /// All values of a characteristic are sent on the same bearer, to keep their order. Characteristics are distributed
    /// over the bearers whose MTU is at least `mtu`.
    mutating func chooseBearer(forValuesOf value: AttributeHandle, mtu: Int) -> Int {
        if let route = routes.first(where: { $0.value == value }),
            let index = bearers.firstIndex(where: { $0.id == route.bearer })
        {
            return index
        }
        routes.removeAll { $0.value == value }
        let fitting = bearers.indices.filter { bearers[$0].mtu ?? mtu >= mtu }
        let loads = fitting.map { index in routes.count { $0.bearer == bearers[index].id } }
        let least = loads.min().flatMap { loads.firstIndex(of: $0) } ?? 0
        let index = fitting.isEmpty ? 0 : fitting[least]
        routes.append((value, bearers[index].id))
        return index
    }

    /// Makes the unenhanced bearer send the values of a characteristic from now on, because earlier values are queued
    /// there.
    mutating func useUnenhancedBearer(for value: AttributeHandle) {
        forgetRoute(of: value)
        routes.append((value, .unenhanced))
    }

    /// Drops the assignment of a characteristic's values to a bearer.
    mutating func forgetRoute(of value: AttributeHandle) { routes.removeAll { $0.value == value } }
}

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
        updates = OutgoingUpdates(limits: limits)
    }

    /// Records that the MTU of an enhanced bearer has changed.
    mutating func resize(to mtu: Int) { self.mtu = mtu }
}
