package import BLEWire

/// The attribute layer of this host: the GATT clients that use the peers' attributes, and the GATT server that offers
/// this host's attributes.
///
/// It takes the payloads of channel 0x0004 and requests from clients, and returns actions through ``next()``: packets
/// to send, events for clients, and changes to store.
///
/// Each link has a client part, a ``GATTClient``, and a server part; all links share one ``GATTDatabase``. The layer is
/// independent of controllers: two layers can be connected directly, by passing the packets of each to the other.
///
/// Core 6.0, Vol 3, Parts F and G.
package struct AttributeLayer {
    /// The configuration of the attribute layer.
    package struct Configuration: Sendable {
        /// The Device Name in the local GAP service, at most 248 octets of UTF-8.
        package var deviceName: String
        /// The Appearance in the local GAP service: Assigned Numbers, 2.6.
        package var appearance: UInt16
        /// The MTU that this host offers to peers, in octets; at least 23.
        package var preferredMTU: Int
        /// The minimum key size, in octets, 7 to 16, for attributes that require encryption.
        package var leastKeySize: Int
        /// True to announce that this host supports Enhanced ATT bearers.
        package var offersEnhancedBearers: Bool
        /// True to announce that this host resolves private addresses.
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
        /// A central has used an attribute of the client, for the first time since the central connected.
        case used(ClientID)
        /// Clients can now use a link, with this MTU.
        ///
        /// If this host is the central, it has exchanged the MTU, or has waited one second for the response. If it is a
        /// peripheral, the central may still exchange the MTU, which changes the result of ``AttributeLayer/mtu(of:)``.
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
        /// Store this data of a bonded peer in place of the previous data.
        indirect case bondChanged(PeerIdentifier, Bond)
        /// The peer confirmed an indication of this value.
        case confirmed(ConnectionHandle, AttributeHandle)
        case note(Note)
    }

    let configuration: Configuration
    /// The links, in ascending order of connection handles.
    var links: [AttributeLink] = []
    private var linkIndex = LinkIndex()
    /// The links whose peers have subscribed to characteristics of this host.
    private(set) var subscribers = Subscribers()
    var database: GATTDatabase
    private var recentDatabases = RecentDatabases()
    var updates = UnsentUpdates()
    /// The values of clients that want to be informed of confirmed indications.
    ///
    /// Each is in the database, which limits their number.
    var reportedConfirmations: [GATTDatabase.Owner] = []
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

    /// Creates a layer whose server has exactly the attributes of `database`.
    package init(configuration: Configuration, database: GATTDatabase) {
        self.configuration = configuration
        self.database = database
    }

    /// Returns the next action, or `nil` if there are no more.
    package mutating func next() -> Output? { outbox.next() }

    /// The time to call ``wake(at:)`` next; `nil` if nothing is due.
    package var deadline: Instant? {
        mutating get {
            var least: Instant?
            for index in links.indices { least.bringForward(to: links[index].deadline) }
            return least
        }
    }

    /// Adds a link that has been established.
    ///
    /// `role` is the local role on the link. `bond` contains the stored data of the peer if the peer is bonded and has
    /// already proven the bond.
    ///
    /// `claimed` contains the stored data of the bonded peer whose address the peer of this link uses. The two may be
    /// different devices. So until ``bonded(_:_:at:)`` is called, the data is only used to check signatures, and the
    /// peer gets no requests. The peer can use the local attributes like any other device.
    package mutating func linkUp(
        _ link: ConnectionHandle,
        peer: PeerIdentifier,
        role: LinkRole,
        bond: Bond? = nil,
        claimed: Bond? = nil,
        at now: Instant
    ) {
        precondition(index(of: link) == nil, "a link must be added only once")
        database.refreshHash()
        var client = GATTClient(link: link, peer: peer, role: role, configuration: configuration, at: now)
        if let claimed { client.claim(claimed) }
        client.linkUp(at: now, into: &outbox)
        let server = ServerLink(limits: configuration.limits)
        let index = links.firstIndex { $0.handle > link } ?? links.endIndex
        links.insert(AttributeLink(client: client, server: server), at: index)
        linkIndex = LinkIndex(links.map(\.handle))
        if let bond {
            bonded(link, bond, at: now)
        } else if claimed == nil, role == .central {
            links[index].client.unbonded(recentDatabases.take(peer, at: now))
        }
    }

    /// Removes a link that has ended, and fails all pending requests.
    package mutating func linkDown(_ link: ConnectionHandle, failure: Failure, at now: Instant) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        if let database = links[index].client.databaseForNextLink {
            recentDatabases.record(database, of: links[index].client.peer, at: now)
        }
        links[index].client.close(failure, into: &outbox)
        countUpdatesAsSent(at: index)
        unsubscribe(from: .all, at: index)
        for bearer in links[index].server.bearers { forget(bearer.id) }
        links.remove(at: index)
        linkIndex = LinkIndex(links.map(\.handle))
        if links.isEmpty { database.releaseHandles() }
    }

    /// Carries out everything that is due.
    package mutating func wake(at now: Instant) {
        for index in links.indices {
            links[index].client.wake(at: now, into: &outbox)
            for position in positions(at: index).reversed() { expireIndication(at: position, now) }
        }
    }

    /// Records that the controller has accepted the packet with this receipt.
    package mutating func sent(_ receipt: SendReceipt, at now: Instant) {
        guard let link = receipt.link, let index = index(of: link) else { return }
        links[index].client.sent(receipt, at: now, into: &outbox)
        sentUpdates(upTo: receipt, at: BearerPosition(link: index))
    }

    func index(of link: ConnectionHandle) -> Int? { linkIndex[link] }

    /// Records that the peer of the link at `index` has written `bits` to the Client Characteristic Configuration with
    /// handle `configuration`.
    mutating func configure(_ configuration: AttributeHandle, _ bits: UInt16, at index: Int) {
        links[index].server.configurations[configuration] = bits
        subscribers.set(bits != 0, configuration, on: links[index].handle)
    }
}

/// The local role on a link.
package enum LinkRole: Equatable, Sendable {
    case central, peripheral
}
