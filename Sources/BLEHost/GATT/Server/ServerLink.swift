import BLEWire

/// The server's side of one link: the peer's prepared writes, configurations and pending requests.
struct ServerLink {
    /// A response that waits for clients.
    struct Pending {
        /// The opcode of the request, and the handle for an error response.
        let request: ATT.Opcode
        let handle: AttributeHandle
        var answer: Answer

        /// The handles of all attributes that are read or written.
        var handles: [AttributeHandle] {
            if case .executing(let execution) = answer { [handle] + execution.others } else { [handle] }
        }
    }

    enum Answer {
        case reading(Asked, for: Reading)
        case writing(Asked)
        indirect case executing(Execution)
    }

    /// The execution of prepared writes.
    struct Execution {
        /// The clients that must agree before ``values`` are stored.
        var asked: [Asked]
        let values: [GATTDatabase.StoredValue]
        /// The attributes that are written besides the first.
        let others: [AttributeHandle]
    }

    /// A client that was asked.
    struct Asked: Equatable {
        let transaction: ServerTransaction
        let client: ClientID
    }

    /// The purpose of a value from a client.
    enum Reading: Equatable {
        case value
        case part
        case list
        indirect case several(values: [[UInt8]], rest: [AttributeHandle])
    }

    /// The unenhanced bearer first, then the others in the order in which they were opened.
    var bearers: [ServerBearer]
    /// The bearers that the values of characteristics are sent on.
    private var routes: [(value: AttributeHandle, bearer: BearerID)] = []
    var configurations = ClientConfigurations()
    /// The clients of this host whose attributes or channels the peer has used.
    var clients = ServedClients()
    var prepared: PreparedWrites
    private(set) var features: ClientFeatures = []
    var awareness = ChangeAwareness()
    /// The range of a change that the peer has not confirmed.
    private(set) var pendingChange: AttributeHandleRange?

    init(limits: Limits) {
        bearers = [ServerBearer(.unenhanced, limits: limits)]
        prepared = PreparedWrites(limit: limits.preparedParts)
    }

    /// Records the peer's supported features.
    mutating func understands(_ features: ClientFeatures) { self.features = features }

    /// Records that the peer is being told of a change in a range.
    mutating func tells(ofChangeIn range: AttributeHandleRange) {
        pendingChange = pendingChange?.joined(with: range) ?? range
    }

    /// Records that the peer has confirmed all changes.
    mutating func confirmedChange() {
        awareness.confirmedChange(onOnlyBearer: bearers.count == 1)
        pendingChange = nil
    }

    /// Returns the view of the peer on a link with this trust.
    func view(on trust: LinkTrust) -> GATTDatabase.View {
        GATTDatabase.View(trust: trust, configurations: configurations, features: features)
    }

    /// True if the peer gets only Service Changed, and its commands are ignored, until it is change-aware.
    ///
    /// Core 6.0, Vol 3, Part G, 2.5.2.1.
    var isHeldBack: Bool { !awareness.isAware && features.contains(.robustCaching) }

    /// Returns the index of the bearer whose response waits for this answer.
    ///
    /// `mutating`, like all access to a link in a loop, to avoid a copy.
    mutating func bearer(awaiting asked: Asked) -> Int? {
        bearers.firstIndex { $0.exchange.pending?.awaits(asked) ?? false }
    }

    /// Returns the peer's configuration; 0 if it currently may not receive the characteristic.
    mutating func configured(
        _ about: GATTDatabase.Configured,
        at configuration: AttributeHandle,
        on trust: LinkTrust
    ) -> UInt16 {
        let bits = configurations[configuration]
        return bits != 0 && takes(about.properties, on: trust) ? bits : 0
    }

    /// Returns whether the peer may currently receive the values of a characteristic.
    private func takes(_ properties: CharacteristicProperties, on trust: LinkTrust) -> Bool {
        let isProtected = !properties.isDisjoint(with: [.notifyEncryptionRequired, .indicateEncryptionRequired])
        return !isHeldBack && (!isProtected || trust.lack(of: .encrypted) == nil)
    }

    /// Returns the index of the bearer for the values of a characteristic, each of which fits into a packet of `mtu`
    /// octets.
    ///
    /// The values of a characteristic stay on one bearer, to keep their order. Characteristics are distributed over the
    /// bearers with at least the MTU of the unenhanced one.
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

    /// Moves the values of a characteristic to the unenhanced bearer, where others are queued.
    mutating func returnRoute(of value: AttributeHandle) {
        forgetRoute(of: value)
        routes.append((value, .unenhanced))
    }

    /// Forgets the bearer for the values of a characteristic.
    mutating func forgetRoute(of value: AttributeHandle) { routes.removeAll { $0.value == value } }
}
