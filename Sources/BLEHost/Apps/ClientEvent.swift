package import BLEWire

/// An event that the host sends to a client.
package enum ClientEvent: Equatable, Sendable {
    /// The preserved state of an earlier launch of the app. This event comes before all others.
    ///
    /// `indirect`, because the state is large, and every event takes as much memory as the largest case.
    indirect case restored(PreservedState)
    /// The state of the radio. A session receives this event when it starts, if the state is known, and whenever the
    /// state changes.
    ///
    /// At the start, only the restored state, the known peers and the existing links or centrals come before it. If a
    /// new state ends pending requests, they are answered before this event.
    case stateChanged(HostState)
    /// The controller's optional capabilities, for clients with the central role. If there are any, this event comes
    /// before the state ``HostState/poweredOn``.
    case featuresChanged(HostFeatures)
    /// Peers that clients can connect to without a scan, because the host has stored them or has received their
    /// advertisements.
    case knownPeers([KnownPeer])
    /// The peers that are now connected, by any client; sent to clients with the central role whenever this list
    /// changes.
    case systemLinks([SystemLink])
    /// From now on, discoveries belong to the scan with this number.
    case scanBegan(UInt32)
    /// A peer that matches this client's scan advertised.
    case discovered(AdvertisementReport)
    case connected(PeerIdentifier, LinkParameters)
    case connectFailed(PeerIdentifier, Failure)
    /// A connection ended; there is no failure if this client requested the end.
    ///
    /// All of the client's pending requests to the peer have been answered before this event. `isReconnecting` is true
    /// if the host is trying to connect again, as requested with ``ConnectRequest/reconnects``.
    case disconnected(PeerIdentifier, Failure?, isReconnecting: Bool)
    case peer(PeerIdentifier, PeerEvent, answering: RequestNumber = .none)
    case server(ServerEvent)
    case security(SecurityEvent)
    case tester(TesterEvent)
    case channel(ChannelID, ChannelEvent)
    /// An alert about a suspended app. The client that receives it shows it to the user.
    case alert(ClientAlert)
}

/// The state of the radio.
package enum HostState: Equatable, Sendable {
    /// The state is not known yet.
    case unknown
    /// The connection to the controller was lost and is being restored.
    case resetting
    /// There is no controller, or none that supports LE.
    case unsupported
    /// The client is not allowed to use Bluetooth.
    case unauthorized
    case poweredOff
    case poweredOn
}

/// Optional capabilities of a host with its current controller.
package struct HostFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Receiving extended advertisements and connecting to their senders.
    package static let extendedScanAndConnect = Self(rawValue: 1 << 0)
}

/// A peer that the host has stored, or whose advertisements it has received.
package struct KnownPeer: Equatable, Sendable {
    package var peer: PeerIdentifier
    package var name: String?
    package init(peer: PeerIdentifier, name: String? = nil) {
        self.peer = peer
        self.name = name
    }
}

/// A link of this host, and the services that clients have discovered on the link's peer.
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

/// The properties of a link that a client receives when it connects.
package struct LinkParameters: Equatable, Sendable {
    /// The ATT MTU, in octets.
    package var mtu: Int
    /// The name of the peer; `nil` if it is not known.
    package var name: String?
    package init(mtu: Int, name: String? = nil) {
        self.mtu = mtu
        self.name = name
    }
}

/// The result of a request to a peer, or an event about the peer.
package enum PeerEvent: Equatable, Sendable {
    /// The ATT MTU changed to this number of octets.
    case mtuChanged(Int)
    case nameChanged(String)
    /// The details of the link. The client receives them when it connects, and whenever they change.
    case linkChanged(LinkDetails)
    case tuned(LinkTuning, Failure?)
    case rssiRead(Result<RSSI, Failure>)
    case servicesDiscovered(Result<[DiscoveredService], Failure>)
    case includedServicesDiscovered(in: AttributeHandleRange, Result<[DiscoveredService], Failure>)
    case characteristicsDiscovered(in: AttributeHandleRange, Result<[DiscoveredCharacteristic], Failure>)
    case descriptorsDiscovered(of: AttributeHandle, Result<[DiscoveredDescriptor], Failure>)
    case valueRead(AttributeHandle, Result<[UInt8], Failure>)
    case valueWritten(AttributeHandle, Failure?)
    /// This many more write commands have left the host, in the order in which they were requested.
    case writeCommandsTaken(Int)
    /// The client's current subscription to a characteristic; there is a failure if it is not the subscription that the
    /// client requested.
    case subscriptionChanged(AttributeHandle, Subscription, Failure?)
    /// The peer sent a notification or indication.
    case valueNotified(AttributeHandle, [UInt8])
    /// Services in this range were added, removed or changed. Everything discovered in the range is invalid.
    case servicesModified(AttributeHandleRange)
    /// The result of ``AttributeRequest/forgetDatabase``. Without a failure, everything that this client has discovered
    /// is invalid. After a failure, nothing has changed.
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
    /// The last handle of the characteristic.
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
