package import BLEWire

/// What the host tells a client.
package enum ClientEvent: Equatable, Sendable {
    /// The app was launched to go on where an earlier launch ended, and this is where that was; before anything else.
    case restored(PreservedState)
    /// Whether the radio can be used; the first event of every session but for ``restored(_:)`` and
    /// ``knownPeers(_:)``, and then at each change.
    ///
    /// What was pending in the host has been answered before the state says that it cannot go on.
    case stateChanged(HostState)
    /// What the controller can do beyond the least; sent to centrals just before the state says that they can begin,
    /// unless it is nothing.
    case featuresChanged(HostFeatures)
    /// Peers that this host knows from earlier, or has seen on the air, so that they may be connected without scanning.
    case knownPeers([KnownPeer])
    /// Peers that are connected at this moment, for whichever client; sent to centrals at each change.
    case systemLinks([SystemLink])
    /// What is discovered from now on is of the scan with this number, and no more of any before.
    case scanBegan(UInt32)
    /// A peer advertised, and it is one that this client scans for.
    case discovered(AdvertisementReport)
    case connected(PeerIdentifier, LinkParameters)
    case connectFailed(PeerIdentifier, Failure)
    /// A connection ended; `nil` if this client wanted it so.
    ///
    /// Every pending request to the peer has been answered before. `isReconnecting` is set if the client asked the host
    /// to connect again by itself.
    case disconnected(PeerIdentifier, Failure?, isReconnecting: Bool)
    case peer(PeerIdentifier, PeerEvent, answering: RequestNumber = .none)
    case server(ServerEvent)
    case security(SecurityEvent)
    case tester(TesterEvent)
    case channel(ChannelID, ChannelEvent)
    /// What an app that sleeps does not hear, for the user; the host itself tells nobody.
    case alert(ClientAlert)
}

/// Whether the radio can be used.
package enum HostState: Equatable, Sendable {
    /// Not known yet.
    case unknown
    /// The connection to the controller was lost and is being set up again.
    case resetting
    /// There is no controller, or none that knows Bluetooth LE.
    case unsupported
    /// The client may not use it.
    case unauthorized
    case poweredOff
    case poweredOn
}

/// What a host can do beyond the least, with the controller that it has.
package struct HostFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It hears extended advertisements, and connects through them.
    package static let extendedScanAndConnect = Self(rawValue: 1 << 0)
}

/// A peer that the host knows.
package struct KnownPeer: Equatable, Sendable {
    package var peer: PeerIdentifier
    package var name: String?
    package init(peer: PeerIdentifier, name: String? = nil) {
        self.peer = peer
        self.name = name
    }
}

/// A link of this host, and the services that its clients found there.
package struct SystemLink: Equatable, Sendable {
    package var peer: PeerIdentifier
    package var name: String?
    package var services: [BluetoothUUID]
    package init(peer: PeerIdentifier, name: String? = nil, services: [BluetoothUUID] = []) {
        self.peer = peer
        self.name = name
        self.services = services
    }
}

/// What a link is like.
package struct LinkParameters: Equatable, Sendable {
    /// The largest ATT packet, in octets, that both ends take.
    package var mtu: Int
    /// The name of the peer, if it is known.
    package var name: String?
    package init(mtu: Int, name: String? = nil) {
        self.mtu = mtu
        self.name = name
    }
}

/// What became of a request to a peer, or what the peer said by itself.
package enum PeerEvent: Equatable, Sendable {
    /// The peers agreed on another size of ATT packets.
    case mtuChanged(Int)
    case nameChanged(String)
    /// What the link is like: told after the client was connected, and at each change.
    case linkChanged(LinkDetails)
    case tuned(LinkTuning, Failure?)
    case rssiRead(Result<RSSI, Failure>)
    case servicesDiscovered(Result<[DiscoveredService], Failure>)
    case includedServicesDiscovered(in: AttributeHandleRange, Result<[DiscoveredService], Failure>)
    case characteristicsDiscovered(in: AttributeHandleRange, Result<[DiscoveredCharacteristic], Failure>)
    case descriptorsDiscovered(of: AttributeHandle, Result<[DiscoveredDescriptor], Failure>)
    case valueRead(AttributeHandle, Result<[UInt8], Failure>)
    case valueWritten(AttributeHandle, Failure?)
    /// That many write commands have left the host, in the order in which they were asked for.
    case writeCommandsTaken(Int)
    /// What the characteristic sends now; with the failure if that is not what was asked for.
    case subscriptionChanged(AttributeHandle, Subscription, Failure?)
    /// The peer notified or indicated a value.
    case valueNotified(AttributeHandle, [UInt8])
    /// Services in this range were added, removed or changed: what was discovered there is void.
    case servicesModified(AttributeHandleRange)
    /// What was discovered by this client is void, unless there is a failure.
    case databaseForgotten(Failure?)
    case channelOpened(SPSM, Result<OpenedChannel, Failure>)
}

/// A service of a peer.
package struct DiscoveredService: Equatable, Sendable {
    package var uuid: BluetoothUUID
    package var range: AttributeHandleRange
    package var isPrimary: Bool
    package init(uuid: BluetoothUUID, range: AttributeHandleRange, isPrimary: Bool) {
        self.uuid = uuid
        self.range = range
        self.isPrimary = isPrimary
    }
}

/// A characteristic of a peer.
package struct DiscoveredCharacteristic: Equatable, Sendable {
    package var uuid: BluetoothUUID
    /// The properties octet of the declaration.
    package var properties: UInt8
    package var declaration: AttributeHandle
    package var value: AttributeHandle
    /// The last handle that belongs to the characteristic.
    package var end: AttributeHandle

    package init(
        uuid: BluetoothUUID,
        properties: UInt8,
        declaration: AttributeHandle,
        value: AttributeHandle,
        end: AttributeHandle
    ) {
        self.uuid = uuid
        self.properties = properties
        self.declaration = declaration
        self.value = value
        self.end = end
    }
}

/// A descriptor of a peer.
package struct DiscoveredDescriptor: Equatable, Sendable {
    package var uuid: BluetoothUUID
    package var handle: AttributeHandle
    package init(uuid: BluetoothUUID, handle: AttributeHandle) {
        self.uuid = uuid
        self.handle = handle
    }
}
