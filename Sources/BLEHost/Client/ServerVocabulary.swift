package import BLEWire

/// What a client asks of this host as a peripheral: its advertisement, its links and its channels.
package enum ServerRequest: Equatable, Sendable {
    /// Answered by ``ServerEvent/advertisingStarted(_:)``.
    case startAdvertising(AdvertisingRequest)
    case stopAdvertising
    /// Asks the central for another trade between delay and energy.
    case setLatency(PeerIdentifier, ConnectionLatency)
    /// Ends the link to a central, whoever uses it.
    case disconnect(PeerIdentifier)
    /// Lets peers open channels; answered by ``ServerEvent/channelPublished(_:_:)`` with the PSM that the host chose.
    case publishChannel(encryptionRequired: Bool)
    /// Lets peers open no more of them, and leaves those that are open; answered by
    /// ``ServerEvent/channelUnpublished(_:_:)``.
    case unpublishChannel(SPSM)

    /// How this is answered if it comes to nothing; `nil` if it has no answer.
    package func answer(_ failure: Failure) -> ServerEvent? {
        switch self {
        case .startAdvertising: .advertisingStarted(failure)
        case .publishChannel: .channelPublished(.none, failure)
        case .unpublishChannel(let psm): .channelUnpublished(psm, failure)
        case .stopAdvertising, .setLatency, .disconnect: nil
        }
    }
}

/// What a client asks about the services that it publishes.
package enum ServiceRequest: Equatable, Sendable {
    /// Answered by ``ServerEvent/serviceAdded(_:_:)``.
    case addService(ServiceDefinition)
    case removeService(LocalAttributeID)
    case removeAllServices
    /// Answers a read or a group of writes.
    case respond(ServerTransaction, ServerResponse)
    /// Notifies or indicates a value to those of the given centrals that subscribed; to all that did if `nil`.
    ///
    /// ``ServerEvent/updatesTaken(_:)`` says when it has left the host for all of them.
    case update(LocalAttributeID, [UInt8], to: [PeerIdentifier]?)

    /// How this is answered if it comes to nothing; `nil` if it has no answer.
    package func answer(_ failure: Failure) -> ServerEvent? {
        switch self {
        case .addService(let service): .serviceAdded(service.id, failure)
        case .update: .updatesTaken(1)
        case .removeService, .removeAllServices, .respond: nil
        }
    }
}

/// What the app answers to a peer's request.
package enum ServerResponse: Equatable, Sendable {
    /// The value from the requested offset on; for writes, whatever is in it is ignored.
    case success([UInt8])
    case failure(ATT.ErrorCode)
}

/// A trade between delay and energy, as Core Bluetooth offers it.
package enum ConnectionLatency: Equatable, Sendable {
    case low, medium, high
}

/// What the local database and the advertisement tell their client.
package enum ServerEvent: Equatable, Sendable {
    case serviceAdded(LocalAttributeID, Failure?)
    case advertisingStarted(Failure?)
    case subscribed(RemoteCentral, to: LocalAttributeID)
    case unsubscribed(RemoteCentral, from: LocalAttributeID)
    /// A central reads a value that the app holds.
    case readRequested(ServerTransaction, RemoteCentral, LocalAttributeID, offset: Int)
    /// A central writes: one atomic group, answered as one; `nil` if nobody awaits an answer.
    case writeRequested(ServerTransaction?, RemoteCentral, WriteGroup)
    /// That many updates have left the host, in the order in which they were asked for.
    case updatesTaken(Int)
    /// A central's packets have another size now.
    case centralChanged(RemoteCentral)
    /// The centrals that are connected now; told at each change.
    case centralsConnected([ConnectedCentral])
    /// What peers may open; with a failure, the PSM names nothing.
    case channelPublished(SPSM, Failure?)
    case channelUnpublished(SPSM, Failure?)
    /// A peer opened a channel that this client published.
    case channelOpened(OpenedChannel, by: RemoteCentral)
}

/// A central that uses the local database.
package struct RemoteCentral: Hashable, Sendable {
    package var peer: PeerIdentifier
    /// The largest ATT packet, in octets, that both ends take.
    package var mtu: Int
    package init(peer: PeerIdentifier, mtu: Int) {
        self.peer = peer
        self.mtu = mtu
    }
}

/// A central that is connected, and where it was reached.
package struct ConnectedCentral: Equatable, Sendable {
    package var central: RemoteCentral
    package var address: DeviceAddress
    package init(_ central: RemoteCentral, address: DeviceAddress) {
        self.central = central
        self.address = address
    }
}

/// One write of a group.
package struct WritePart: Equatable, Sendable {
    package var attribute: LocalAttributeID
    package var offset: Int
    package var value: [UInt8]
    package init(attribute: LocalAttributeID, offset: Int = 0, value: [UInt8]) {
        self.attribute = attribute
        self.offset = offset
        self.value = value
    }
}

/// What to advertise.
package struct AdvertisingRequest: Equatable, Sendable {
    package var localName: String?
    package var services: [BluetoothUUID]
    /// What apps of Core Bluetooth cannot ask for; `nil` for their budgets and their kind of advertisement.
    package var broadcast: BroadcastRequest?
    package init(localName: String? = nil, services: [BluetoothUUID] = [], broadcast: BroadcastRequest? = nil) {
        self.localName = localName
        self.services = services
        self.broadcast = broadcast
    }
}

/// An advertisement beyond what Core Bluetooth offers.
package struct BroadcastRequest: Equatable, Sendable {
    /// A maker's data, the two octets of the company identifier included.
    package var manufacturerData: [UInt8]?
    package var serviceData: [AdvertisingData.ServiceData] = []
    /// Whether centrals may connect.
    package var isConnectable = true
    /// Whether to use the packets of extended advertising, which hold more but which old devices do not hear.
    package var isExtended = false
    /// How often to advertise.
    package var interval = Duration.milliseconds(100)
    /// How strong to send, in dBm; the controller's choice if `nil`.
    package var transmitPower: Int8?
    /// How strong the advertisement says that it is sent, in dBm; nothing of it if `nil`.
    package var statedPower: Int8?
    /// The flags at the beginning of the advertisement; none if `nil`.
    package var flags: ADFlags? = Self.usualFlags
    /// The octets of the two packets, if they are to be sent as they are.
    ///
    /// Nothing else may be said then, and ``flags`` do not matter.
    package var octets: AdvertisementOctets?
    package var primaryPHY = PHY.le1M
    package var secondaryPHY = PHY.le1M

    package static let usualFlags: ADFlags = [.generalDiscoverable, .classicNotSupported]

    package init() {}
}

/// A service for the local database.
package struct ServiceDefinition: Equatable, Sendable {
    package var id: LocalAttributeID
    package var uuid: BluetoothUUID
    package var isPrimary: Bool
    /// Services of the same client, added before.
    package var includes: [LocalAttributeID]
    package var characteristics: [CharacteristicDefinition]

    package init(
        id: LocalAttributeID,
        uuid: BluetoothUUID,
        isPrimary: Bool = true,
        includes: [LocalAttributeID] = [],
        characteristics: [CharacteristicDefinition] = []
    ) {
        self.id = id
        self.uuid = uuid
        self.isPrimary = isPrimary
        self.includes = includes
        self.characteristics = characteristics
    }
}

/// A characteristic for the local database.
///
/// The Client Characteristic Configuration and Extended Properties descriptors come by themselves from `properties`.
package struct CharacteristicDefinition: Equatable, Sendable {
    package var id: LocalAttributeID
    package var uuid: BluetoothUUID
    package var properties: CharacteristicProperties
    package var permissions: AttributePermissions
    /// The value, if the host answers reads by itself; `nil` if each read and write goes to the client.
    package var value: [UInt8]?
    package var descriptors: [DescriptorDefinition]

    package init(
        id: LocalAttributeID,
        uuid: BluetoothUUID,
        properties: CharacteristicProperties,
        permissions: AttributePermissions,
        value: [UInt8]? = nil,
        descriptors: [DescriptorDefinition] = []
    ) {
        self.id = id
        self.uuid = uuid
        self.properties = properties
        self.permissions = permissions
        self.value = value
        self.descriptors = descriptors
    }
}

/// A descriptor for the local database, with a value that never changes.
package struct DescriptorDefinition: Equatable, Sendable {
    package var id: LocalAttributeID
    package var uuid: BluetoothUUID
    package var value: [UInt8]
    package init(id: LocalAttributeID, uuid: BluetoothUUID, value: [UInt8]) {
        self.id = id
        self.uuid = uuid
        self.value = value
    }
}

/// What a characteristic can do: the octet of its declaration, and above it what only the own server knows.
///
/// Core 6.0, Vol 3, Part G, 3.3.1.1.
package struct CharacteristicProperties: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let broadcast = Self(rawValue: 0x01)
    package static let read = Self(rawValue: 0x02)
    package static let writeWithoutResponse = Self(rawValue: 0x04)
    package static let write = Self(rawValue: 0x08)
    package static let notify = Self(rawValue: 0x10)
    package static let indicate = Self(rawValue: 0x20)
    package static let authenticatedSignedWrites = Self(rawValue: 0x40)
    package static let extendedProperties = Self(rawValue: 0x80)
    package static let notifyEncryptionRequired = Self(rawValue: 0x100)
    package static let indicateEncryptionRequired = Self(rawValue: 0x200)

    /// What goes into the declaration.
    package var declared: UInt8 { UInt8(truncatingIfNeeded: complete.rawValue) }

    /// With what they imply: what notifies trusted peers notifies.
    package var complete: Self {
        var complete = self
        if contains(.notifyEncryptionRequired) { complete.insert(.notify) }
        if contains(.indicateEncryptionRequired) { complete.insert(.indicate) }
        return complete
    }
}
