package import BLEWire

/// All that this host does with attributes: as the client of its peers, and as their server.
///
/// It takes the payloads of channel 0x0004 and the requests of clients; what it wants done, it hands out through
/// ``next()``. It knows nothing of controllers, and two of them joined by their packets are a complete pair.
///
/// Core 6.0, Vol 3, Parts F and G.
package struct AttributeLayer {
    /// What a layer is made with.
    package struct Configuration: Sendable {
        /// What the own GAP service says, at most 248 octets of UTF-8.
        package var deviceName: String
        /// What the own GAP service says: Assigned Numbers, 2.6.
        package var appearance: UInt16
        /// The largest ATT packet that this end takes, in octets, 23 or more.
        package var preferredMTU: Int
        /// The length of the shortest key, in octets, that protects attributes which require encryption, 7 to 16.
        package var leastKeySize: Int
        /// Whether clients are told that they may open enhanced bearers.
        package var offersEnhancedBearers: Bool
        /// Whether servers are told that this end knows private addresses by their keys.
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

    /// What the layer wants done.
    package enum Output: Equatable, Sendable {
        /// Send an ATT packet, and report back with ``AttributeLayer/sent(_:at:)`` if there is a receipt.
        case send(OutgoingPayload, on: ConnectionHandle, receipt: SendReceipt?)
        /// Do this with the channels that are enhanced bearers of a link.
        case bearer(BearerRequest, of: ConnectionHandle)
        case event(ClientEvent, for: ClientID)
        /// A central has used something of this client for the first time.
        case used(ClientID)
        /// Clients may use a link, whose packets have this size: a central has exchanged it, or has waited for a second
        /// to do so; a peripheral does not know whether there will be an exchange. One that comes later still counts.
        case mtuSettled(ConnectionHandle, Int)
        /// A transaction was not answered within 30 s: the link is of no more use.
        case abandon(ConnectionHandle)
        /// The peer told its name.
        case nameRead(PeerIdentifier, String)
        /// The primary services that clients have found on a peer so far.
        case servicesKnown(PeerIdentifier, [BluetoothUUID])
        /// The peer refuses something for this reason: have the link trusted further, and report back with
        /// ``AttributeLayer/securityAnswered(_:_:at:)``.
        case secure(ConnectionHandle, for: ATT.ErrorCode)
        /// Keep this of a bonded peer over what was kept of it before.
        indirect case bondChanged(PeerIdentifier, Bond)
        /// The peer confirmed an indication of this value.
        case confirmed(ConnectionHandle, AttributeHandle)
        case note(Note)
    }

    let configuration: Configuration
    /// In ascending order of handles.
    var links: [AttributeLink] = []
    private var linkPlaces = LinkPlaces()
    /// Whose configurations hold something.
    private(set) var subscribers = Subscribers()
    var database: GATTDatabase
    var updates = UpdateLedger()
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

    /// What to do next; call until it is `nil`.
    package mutating func next() -> Output? { outbox.next() }

    /// When to call ``wake(at:)``, if nothing happens before.
    package var deadline: Instant? {
        mutating get {
            var least: Instant?
            for index in links.indices { least.bringForward(to: links[index].deadline) }
            return least
        }
    }

    /// Begins with a link that came up, on which this host has the given role.
    ///
    /// `bond` is what is kept of the peer if it is bonded, and known to be the one at the other end; `claimed` what is
    /// kept of the one whose address it has, which anybody can have. Nothing of that counts until
    /// ``bonded(_:_:at:)``, and nothing is asked of the peer. Of the own server's attributes, it gets what everybody
    /// does; signatures alone are checked with what the bond has for that.
    package mutating func linkUp(
        _ link: ConnectionHandle,
        peer: PeerIdentifier,
        role: LinkRole,
        bond: Bond? = nil,
        claimed: Bond? = nil,
        at now: Instant
    ) {
        precondition(index(of: link) == nil, "a link comes up once")
        database.refreshHash()
        var client = GATTClient(link: link, peer: peer, role: role, configuration: configuration, at: now)
        if let claimed { client.claim(claimed) }
        client.linkUp(at: now, into: &outbox)
        let server = ServerLink(limits: configuration.limits)
        let index = links.firstIndex { $0.handle > link } ?? links.endIndex
        links.insert(AttributeLink(client: client, server: server), at: index)
        linkPlaces = LinkPlaces(links.map(\.handle))
        if let bond { bonded(link, bond, at: now) }
    }

    /// Ends with a link that is gone, and answers all that waited for it.
    package mutating func linkDown(_ link: ConnectionHandle, failure: Failure, at now: Instant) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        links[index].client.close(failure, into: &outbox)
        countUpdatesAsSent(at: index)
        unsubscribe(from: .all, at: index)
        for bearer in links[index].server.bearers { forget(bearer.id) }
        links.remove(at: index)
        linkPlaces = LinkPlaces(links.map(\.handle))
        if links.isEmpty { database.releaseHandles() }
    }

    /// Does what is due.
    package mutating func wake(at now: Instant) {
        for index in links.indices {
            links[index].client.wake(at: now, into: &outbox)
            for place in places(at: index).reversed() { expireIndication(at: place, now) }
        }
    }

    /// Notes that the controller has taken the packet with this receipt.
    package mutating func sent(_ receipt: SendReceipt, at now: Instant) {
        guard let link = receipt.link, let index = index(of: link) else { return }
        links[index].client.sent(receipt, into: &outbox)
        sentUpdates(upTo: receipt, at: Place(link: index))
    }

    func index(of link: ConnectionHandle) -> Int? { linkPlaces[link] }

    /// Notes what the peer of a link wants to hear of a characteristic from now on.
    mutating func configure(_ configuration: AttributeHandle, _ bits: UInt16, at index: Int) {
        links[index].server.configurations[configuration] = bits
        subscribers.set(bits != 0, configuration, on: links[index].handle)
    }
}

/// Which end of a link this host is.
package enum LinkRole: Equatable, Sendable {
    case central, peripheral
}
