package import BLEWire

/// The attribute layer of this host: the GATT client for its peers, and the GATT server for theirs.
///
/// It takes the payloads of channel 0x0004 and the requests of clients, and returns actions through ``next()``: packets
/// to send, events for clients, and changes to store.
///
/// Each link has a client part, a ``GATTClient``, and a server part; all links share one ``GATTDatabase``. The layer is
/// independent of controllers: two layers that exchange packets form a complete pair.
///
/// Core 6.0, Vol 3, Parts F and G.
package struct AttributeLayer {
    /// The configuration of a layer.
    package struct Configuration: Sendable {
        /// The Device Name in the local GAP service, at most 248 octets of UTF-8.
        package var deviceName: String
        /// The Appearance in the local GAP service: Assigned Numbers, 2.6.
        package var appearance: UInt16
        /// The MTU that this end offers, in octets, at least 23.
        package var preferredMTU: Int
        /// The minimum key size, in octets, 7 to 16, for attributes that require encryption.
        package var leastKeySize: Int
        /// True if to announce support of Enhanced ATT bearers.
        package var offersEnhancedBearers: Bool
        /// True if to announce that this end resolves private addresses.
        package var resolvesAddresses: Bool
        package var limits: Limits

        package init(
            deviceName: String = "",
            appearance: UInt16 = 0,
            preferredMTU: Int = ATT.maximumMTU,
            leastKeySize: Int = 7,
            offersEnhancedBearers: Bool = false,
            resolvesAddresses: Bool = false,
            limits: Limits = Limits()
        ) {
            self.deviceName = deviceName
            self.appearance = appearance
            self.preferredMTU = preferredMTU
            self.leastKeySize = leastKeySize
            self.offersEnhancedBearers = offersEnhancedBearers
            self.resolvesAddresses = resolvesAddresses
            self.limits = limits
        }
    }

    /// An action for the caller.
    package enum Output: Equatable, Sendable {
        /// Send an ATT packet, and call ``AttributeLayer/sent(_:at:)`` afterwards if there is a receipt.
        case send(OutgoingPayload, on: ConnectionHandle, receipt: SendReceipt?)
        /// Carry out this request about the enhanced bearers of a link.
        case bearer(BearerRequest, of: ConnectionHandle)
        case event(ClientEvent, for: ClientID)
        /// A central has used something of this client for the first time.
        case used(ClientID)
        /// Clients can use a link, with this MTU: a central has exchanged it or waited for a second; a peripheral does
        /// not know whether there will be an exchange. A later exchange still counts.
        case mtuSettled(ConnectionHandle, Int)
        /// A transaction timed out after 30 s: end the link.
        case abandon(ConnectionHandle)
        /// The peer's name was read.
        case nameRead(PeerIdentifier, String)
        /// The primary services that clients have discovered on a peer so far.
        case servicesKnown(PeerIdentifier, [BluetoothUUID])
        /// The peer rejected a request with this error: raise the security of the link, and call
        /// ``AttributeLayer/securityAnswered(_:_:at:)`` afterwards.
        case secure(ConnectionHandle, for: ATT.ErrorCode)
        /// Store these data of a bonded peer, replacing the previous ones.
        indirect case bondChanged(PeerIdentifier, Bond)
        /// The peer confirmed an indication of this value.
        case confirmed(ConnectionHandle, AttributeHandle)
        case note(Note)
    }

    let configuration: Configuration
    /// In ascending order of handles.
    var links: [AttributeLink] = []
    private var linkIndex = LinkIndex()
    /// The links with configurations that are not zero.
    private(set) var subscribers = Subscribers()
    var database: GATTDatabase
    var updates = UnsentUpdates()
    var lastTransaction: UInt64 = 0
    var outbox = Outbox()

    package init(configuration: Configuration) {
        self.init(
            configuration: configuration,
            database: GATTDatabase(
                deviceName: configuration.deviceName,
                appearance: configuration.appearance,
                offersEnhancedBearers: configuration.offersEnhancedBearers,
                resolvesAddresses: configuration.resolvesAddresses
            )
        )
    }

    /// Creates a layer whose server has exactly these attributes.
    package init(configuration: Configuration, database: GATTDatabase) {
        self.configuration = configuration
        self.database = database
    }

    /// Returns the next action; call it until it returns `nil`.
    package mutating func next() -> Output? { outbox.next() }

    /// The time at which to call ``wake(at:)`` unless something happens first.
    package var deadline: Instant? {
        mutating get {
            var least: Instant?
            for index in links.indices { least.bringForward(to: links[index].deadline) }
            return least
        }
    }

    /// Adds a link that came up with the given local role.
    ///
    /// `bond` contains the stored data of a bonded peer that is known to be at the other end. `claimed` contains those
    /// of the bonded peer with this address, which any device can use. Nothing of it counts before ``bonded(_:_:at:)``,
    /// and the peer gets no requests until then. It can use the local attributes like any device; only signatures are
    /// checked with the bond.
    package mutating func linkUp(
        _ link: ConnectionHandle,
        peer: PeerIdentifier,
        role: LinkRole,
        bond: Bond? = nil,
        claimed: Bond? = nil,
        at now: Instant
    ) {
        precondition(index(of: link) == nil, "the link is already known")
        database.refreshHash()
        var client = GATTClient(link: link, peer: peer, role: role, configuration: configuration, at: now)
        if let claimed { client.claim(claimed) }
        client.linkUp(at: now, into: &outbox)
        let server = ServerLink(limits: configuration.limits)
        let index = links.firstIndex { $0.handle > link } ?? links.endIndex
        links.insert(AttributeLink(client: client, server: server), at: index)
        linkIndex = LinkIndex(links.map(\.handle))
        if let bond { bonded(link, bond, at: now) }
    }

    /// Removes a link that has ended, and fails all pending requests.
    package mutating func linkDown(_ link: ConnectionHandle, failure: Failure, at now: Instant) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.close(failure, into: &outbox)
        countUpdatesAsSent(at: index)
        unsubscribe(from: .all, at: index)
        for bearer in links[index].server.bearers { forget(bearer.id) }
        links.remove(at: index)
        linkIndex = LinkIndex(links.map(\.handle))
        if links.isEmpty { database.releaseHandles() }
    }

    /// Does what is due.
    package mutating func wake(at now: Instant) {
        for index in links.indices {
            links[index].client.wake(at: now, into: &outbox)
            for place in places(at: index).reversed() { expireIndication(at: place, now) }
        }
    }

    /// Records that the controller has taken the packet with this receipt.
    package mutating func sent(_ receipt: SendReceipt, at now: Instant) {
        guard let link = receipt.link, let index = index(of: link) else { return }
        links[index].client.sent(receipt, into: &outbox)
        sentUpdates(upTo: receipt, at: BearerPosition(link: index))
    }

    func index(of link: ConnectionHandle) -> Int? { linkIndex[link] }

    /// Records what the peer of a link has written to a configuration.
    mutating func configure(_ configuration: AttributeHandle, _ bits: UInt16, at index: Int) {
        links[index].server.configurations[configuration] = bits
        subscribers.set(bits != 0, configuration, on: links[index].handle)
    }
}

/// The local role on a link.
package enum LinkRole: Equatable, Sendable {
    case central, peripheral
}
