package import BLEWire

/// A client's request about this host as a peripheral: advertising, links and channels.
package enum ServerRequest: Equatable, Sendable {
    /// Starts to advertise. The result is ``ServerEvent/advertisingStarted(_:)``.
    case startAdvertising(AdvertisingRequest)
    case stopAdvertising
    /// Asks the central for another connection latency.
    case setLatency(PeerIdentifier, ConnectionLatency)
    /// Ends the link to a central.
    case disconnect(PeerIdentifier)
    /// Publishes a channel. The result is ``ServerEvent/channelPublished(_:_:)`` with the PSM that the host chose.
    case publishChannel(encryptionRequired: Bool)
    /// Unpublishes a channel; open channels stay open. The result is ``ServerEvent/channelUnpublished(_:_:)``.
    case unpublishChannel(SPSM)

    /// Returns the event that the client receives if the request fails with `failure`; `nil` if the request has no
    /// result.
    package func answer(_ failure: Failure) -> ServerEvent? {
        switch self {
        case .startAdvertising: .advertisingStarted(failure)
        case .publishChannel: .channelPublished(.none, failure)
        case .unpublishChannel(let psm): .channelUnpublished(psm, failure)
        case .stopAdvertising, .setLatency, .disconnect: nil
        }
    }
}

/// A client's request about the services that it publishes.
package enum ServiceRequest: Equatable, Sendable {
    /// Publishes a service. The result is ``ServerEvent/serviceAdded(_:_:)``.
    case addService(ServiceDefinition)
    case removeService(LocalAttributeID)
    case removeAllServices
    /// Answers the read or the group of writes that the transaction identifies.
    case respond(ServerTransaction, ServerResponse)
    /// Sends a value, as a notification or indication, to all subscribed centrals. If `to` is not `nil`, only the
    /// subscribed centrals in `to` receive the value.
    ///
    /// ``ServerEvent/updatesTaken(_:)`` reports when the value has left the host for all these centrals.
    case update(LocalAttributeID, [UInt8], to: [PeerIdentifier]?)
    /// Asks for ``ServerEvent/confirmed(_:of:)`` whenever a central confirms an indication of this value, until its
    /// service is removed. Has no effect unless the client has added the characteristic.
    case reportConfirmations(of: LocalAttributeID)

    /// Returns the event that the client receives if the request fails with `failure`; `nil` if the request has no
    /// result.
    package func answer(_ failure: Failure) -> ServerEvent? {
        switch self {
        case .addService(let service): .serviceAdded(service.id, failure)
        case .update: .updatesTaken(1)
        case .removeService, .removeAllServices, .respond, .reportConfirmations: nil
        }
    }
}

/// An app's response to a peer's request.
package enum ServerResponse: Equatable, Sendable {
    /// The value, starting at the requested offset; ignored for writes.
    case success([UInt8])
    case failure(ATT.ErrorCode)
}

/// The connection latencies that Core Bluetooth offers.
package enum ConnectionLatency: Equatable, Sendable {
    case low, medium, high
}

/// An event for a peripheral session, about its services, advertisement, centrals or channels.
package enum ServerEvent: Equatable, Sendable {
    case serviceAdded(LocalAttributeID, Failure?)
    case advertisingStarted(Failure?)
    case subscribed(RemoteCentral, to: LocalAttributeID)
    case unsubscribed(RemoteCentral, from: LocalAttributeID)
    /// A central reads a value that the app provides, from the octet at `offset`.
    case readRequested(ServerTransaction, RemoteCentral, LocalAttributeID, offset: Int)
    /// A central writes an atomic group of values, to which the app responds once. Without a transaction, the central
    /// expects no response.
    case writeRequested(ServerTransaction?, RemoteCentral, WriteGroup)
    /// This many more updates have left the host, in the order in which they were requested.
    case updatesTaken(Int)
    /// A central has confirmed an indication of a value. Clients that have not asked for it with
    /// ``ServiceRequest/reportConfirmations(of:)`` do not receive this event.
    case confirmed(RemoteCentral, of: LocalAttributeID)
    /// A central's MTU changed.
    case centralChanged(RemoteCentral)
    /// The connected centrals; sent whenever this list changes.
    case centralsConnected([ConnectedCentral])
    /// The PSM of the published channel; meaningless with a failure.
    case channelPublished(SPSM, Failure?)
    case channelUnpublished(SPSM, Failure?)
    /// A peer opened a channel that this client published.
    case channelOpened(OpenedChannel, by: RemoteCentral)
}

/// A central that uses the local database.
package struct RemoteCentral: Hashable, Sendable {
    package var peer: PeerIdentifier
    /// The ATT MTU, in octets.
    package var mtu: Int
    package init(peer: PeerIdentifier, mtu: Int) {
        self.peer = peer
        self.mtu = mtu
    }
}

/// A connected central and its address.
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

/// The contents of an advertisement.
package struct AdvertisingRequest: Equatable, Sendable {
    package var localName: String?
    package var services: [BluetoothUUID]
    /// Options that Core Bluetooth does not have.
    ///
    /// If `nil`, Core Bluetooth's size limits and advertisement type apply.
    package var broadcast: BroadcastRequest?
    package init(localName: String? = nil, services: [BluetoothUUID] = [], broadcast: BroadcastRequest? = nil) {
        self.localName = localName
        self.services = services
        self.broadcast = broadcast
    }
}

/// The part of an advertisement's contents and parameters that Core Bluetooth does not offer.
package struct BroadcastRequest: Equatable, Sendable {
    /// Manufacturer data, starting with the company identifier.
    package var manufacturerData: [UInt8]?
    package var serviceData: [AdvertisingData.ServiceData] = []
    /// True if centrals can connect.
    package var isConnectable = true
    /// True to use extended advertising.
    ///
    /// Extended advertising has room for more data, but old devices cannot receive it.
    package var isExtended = false
    /// The advertising interval, 20 ms to 10.24 s.
    package var interval = Duration.milliseconds(100)
    /// The transmit power, in dBm; `nil` to let the controller choose.
    package var transmitPower: Int8?
    /// The transmit power to include in the advertisement, in dBm; `nil` for none.
    package var statedPower: Int8?
    /// Further structures of advertising data, sent unchanged after the other contents, but before the name.
    package var structures: [AdvertisingData.Structure] = []
    /// The flags at the beginning of the advertisement; none if `nil`.
    package var flags: ADFlags? = Self.usualFlags
    /// The complete octets of the advertisement and the scan response, sent unchanged; `nil` to compose them from the
    /// other contents.
    ///
    /// If they are set, no other contents may be set, and ``flags`` has no effect.
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
    /// The included services, which the same client must already have added.
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
/// The Client Characteristic Configuration and Extended Properties descriptors are derived from `properties`.
package struct CharacteristicDefinition: Equatable, Sendable {
    package var id: LocalAttributeID
    package var uuid: BluetoothUUID
    package var properties: CharacteristicProperties
    package var permissions: AttributePermissions
    /// The value with which the host itself answers reads; `nil` if it passes each read and write to the client.
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

/// A descriptor for the local database.
package struct DescriptorDefinition: Equatable, Sendable {
    package var id: LocalAttributeID
    package var uuid: BluetoothUUID
    package var permissions: AttributePermissions
    /// The value with which the host itself answers reads; `nil` if it passes each read and write to the client.
    package var value: [UInt8]?

    package init(
        id: LocalAttributeID,
        uuid: BluetoothUUID,
        permissions: AttributePermissions = .readable,
        value: [UInt8]?
    ) {
        self.id = id
        self.uuid = uuid
        self.permissions = permissions
        self.value = value
    }
}

/// The properties of a characteristic.
///
/// The lower octet is the properties octet of the characteristic's declaration; the higher bits exist only locally.
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
    package static let notifyAuthenticationRequired = Self(rawValue: 0x400)
    package static let indicateAuthenticationRequired = Self(rawValue: 0x800)
    /// Notifications need the same security as ``AttributePermissions/readSecureConnectionsRequired``.
    ///
    /// Contains ``notifyAuthenticationRequired``.
    package static let notifySecureConnectionsRequired = Self(rawValue: 0x1400)
    /// Indications need the same security as ``AttributePermissions/readSecureConnectionsRequired``.
    ///
    /// Contains ``indicateAuthenticationRequired``.
    package static let indicateSecureConnectionsRequired = Self(rawValue: 0x2800)

    /// The properties octet of the characteristic's declaration.
    package var declared: UInt8 { UInt8(truncatingIfNeeded: complete.rawValue) }

    /// These properties and those that they imply; for example, ``notifyEncryptionRequired`` implies ``notify``.
    package var complete: Self {
        var complete = self
        if !isDisjoint(with: [.notifyEncryptionRequired, .notifyAuthenticationRequired]) { complete.insert(.notify) }
        if !isDisjoint(with: [.indicateEncryptionRequired, .indicateAuthenticationRequired]) {
            complete.insert(.indicate)
        }
        return complete
    }

    /// The security of the link that is needed to subscribe to the characteristic and to receive its values.
    ///
    /// A characteristic has one Client Characteristic Configuration for notifications and indications, so the stronger
    /// requirement of the two applies.
    var subscriptionRequirement: LinkRequirement {
        if contains(.notifySecureConnectionsRequired) || contains(.indicateSecureConnectionsRequired) {
            return .secureConnections
        }
        if !isDisjoint(with: [.notifyAuthenticationRequired, .indicateAuthenticationRequired]) {
            return LinkRequirement(.authenticated)
        }
        return isDisjoint(with: [.notifyEncryptionRequired, .indicateEncryptionRequired]) ? .unencrypted : .encrypted
    }
}
