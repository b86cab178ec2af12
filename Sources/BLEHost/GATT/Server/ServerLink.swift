import BLEWire

/// The server's side of one link: what the peer prepared, configured and waits for.
struct ServerLink {
    /// An answer that waits for clients.
    struct Pending {
        /// The request that is to be answered, and the attribute that an error names.
        let request: ATT.Opcode
        let handle: AttributeHandle
        var answer: Answer

        /// All attributes that are read or written.
        var handles: [AttributeHandle] {
            if case .executing(let execution) = answer { [handle] + execution.others } else { [handle] }
        }
    }

    enum Answer {
        case reading(Asked, for: Reading)
        case writing(Asked)
        indirect case executing(Execution)
    }

    /// The writing of all that was prepared.
    struct Execution {
        /// Clients that have to agree, all of them, before ``values`` are kept as well.
        var asked: [Asked]
        let values: [GATTDatabase.Keeping]
        /// The attributes that are written beside the first.
        let others: [AttributeHandle]
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
        indirect case several(values: [[UInt8]], rest: [AttributeHandle])
    }

    /// The unenhanced one first, and then the others as they were opened.
    var bearers: [ServerBearer]
    /// Which bearer the values of a characteristic go over, once one has.
    private var routes: [(value: AttributeHandle, bearer: BearerID)] = []
    var configurations = ClientConfigurations()
    /// The clients of this host whose attributes or channels the peer has used.
    var clients = ServedClients()
    var prepared: PreparedWrites
    private(set) var features: ClientFeatures = []
    var awareness = ChangeAwareness()
    /// Where services changed, while the peer has not yet confirmed that it knows.
    private(set) var pendingChange: AttributeHandleRange?

    init(limits: Limits) {
        bearers = [ServerBearer(.unenhanced, limits: limits)]
        prepared = PreparedWrites(limit: limits.preparedParts)
    }

    /// The peer has said what it understands.
    mutating func understands(_ features: ClientFeatures) { self.features = features }

    /// The peer is told that services changed in a range.
    mutating func tells(ofChangeIn range: AttributeHandleRange) {
        pendingChange = pendingChange?.joined(with: range) ?? range
    }

    /// The peer has confirmed that it was told of all changes.
    mutating func confirmedChange() {
        awareness.confirmedChange(onOnlyBearer: bearers.count == 1)
        pendingChange = nil
    }

    /// What the values depend on that the peer may read on a link that is trusted so far.
    func view(on trust: LinkTrust) -> GATTDatabase.View {
        GATTDatabase.View(trust: trust, configurations: configurations, features: features)
    }

    /// Whether the peer is told nothing but that services changed, and its commands are ignored, until it knows.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.2.1.
    var isHeldBack: Bool { !awareness.isAware && features.contains(.robustCaching) }

    /// Which bearer's answer waits for what comes of this question.
    ///
    /// Mutating, as is all that looks at a link while others are changed: a link is large, and copied otherwise.
    mutating func bearer(awaiting asked: Asked) -> Int? {
        bearers.firstIndex { $0.exchange.pending?.awaits(asked) ?? false }
    }

    /// What the peer has written to a configuration; 0 if it may not hear of the characteristic now.
    mutating func configured(
        _ about: GATTDatabase.Configured,
        at configuration: AttributeHandle,
        on trust: LinkTrust
    ) -> UInt16 {
        let bits = configurations[configuration]
        return bits != 0 && takes(about.properties, on: trust) ? bits : 0
    }

    /// Whether the values of a characteristic may go to the peer now, if it wants them.
    private func takes(_ properties: CharacteristicProperties, on trust: LinkTrust) -> Bool {
        let isProtected = !properties.isDisjoint(with: [.notifyEncryptionRequired, .indicateEncryptionRequired])
        return !isHeldBack && (!isProtected || trust.lack(of: .encrypted) == nil)
    }

    /// Where in ``bearers`` the values of a characteristic go, of which each fits a packet of `mtu` octets.
    ///
    /// They keep to one bearer, so that they keep their order; characteristics are spread over those that hold as much
    /// as the unenhanced one.
    mutating func route(_ value: AttributeHandle, mtu: Int) -> Int {
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

    /// Has the values of a characteristic go over the unenhanced bearer from now on, where others wait already.
    mutating func returnRoute(of value: AttributeHandle) {
        forgetRoute(of: value)
        routes.append((value, .unenhanced))
    }

    /// Forgets which bearer the values of a characteristic went over.
    mutating func forgetRoute(of value: AttributeHandle) { routes.removeAll { $0.value == value } }
}
