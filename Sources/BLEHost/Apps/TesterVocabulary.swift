package import BLEWire

/// A test suite's request to the radio.
///
/// Only clients with the role ``ClientRole/tester`` can make these requests and receive ``TesterEvent``s. They can make
/// all other requests, too.
package enum TesterRequest: Equatable, Sendable {
    /// Removes all bonds and resets the controller. The client receives the states ``HostState/resetting`` and
    /// ``HostState/poweredOn``.
    case reset
    /// Reads the identity address of this host. The result is ``TesterEvent/localAddress(_:)``.
    case readLocalAddress
    /// Looks up the peer that has this address. The result is ``TesterEvent/found(_:at:)``.
    case find(DeviceAddress)
    /// Advertises in a separate set until ``stopSet(_:)``. The result is ``TesterEvent/setStarted(_:_:)``.
    ///
    /// The client chooses the identifier, which must be unique within the client. A connectable advertisement continues
    /// after a connection, unless it is directed.
    case startSet(AdvertisingSetID, AdvertisingSetRequest)
    /// Stops an advertising set. The result is ``TesterEvent/setEnded(_:)``.
    case stopSet(AdvertisingSetID)
    /// Reports to this client every advertising packet that is received from now on. The result is
    /// ``TesterEvent/listening(_:)``.
    ///
    /// While an app is scanning, the app's scan parameters apply instead of those in this request.
    case listen(ScanParameters)
    case stopListening
    /// Encrypts the link to a peer with the existing bond or by a new pairing. If `needsAuthentication` is true, the
    /// key must be authenticated.
    ///
    /// The result is ``SecurityEvent/secured(_:_:isBonded:)`` or ``SecurityEvent/failed(_:_:)``, unless the link ends.
    case secure(PeerIdentifier, needsAuthentication: Bool)
}

/// An event that reports to a test suite what the radio does.
package enum TesterEvent: Equatable, Sendable {
    /// The identity address of this host.
    case localAddress(DeviceAddress)
    case found(PeerIdentifier, at: DeviceAddress)
    case setStarted(AdvertisingSetID, Failure?)
    /// The set has stopped and will not start again.
    case setEnded(AdvertisingSetID)
    case listening(Failure?)
    case received(ReceivedPacket)
    case linkMade(RadioLink)
    case linkEnded(ConnectionHandle, HCI.Status)
}

/// The identifier that a client has chosen for an advertising set.
package struct AdvertisingSetID: Hashable, Comparable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The contents and parameters of an advertising set.
package struct AdvertisingSetRequest: Equatable, Sendable {
    package var parameters: AdvertisingParameters
    /// The advertising data: at most 31 octets in legacy packets; otherwise 1650, or 245 if the advertisement is
    /// connectable.
    package var data: [UInt8]
    /// The scan response data: at most 31 octets in legacy packets, 251 otherwise.
    package var scanResponse: [UInt8]

    package init(_ parameters: AdvertisingParameters, data: [UInt8] = [], scanResponse: [UInt8] = []) {
        self.parameters = parameters
        self.data = data
        self.scanResponse = scanResponse
    }

    /// The content for the controller; `nil` if the data are too long, or if the specification does not allow this
    /// combination of parameters.
    var content: AdvertisementContent? {
        guard parameters.isPossible, data.count <= parameters.longestData,
            scanResponse.count <= parameters.longestScanResponse
        else { return nil }
        return AdvertisementContent(advertisement: data, scanResponse: scanResponse, parameters: parameters)
    }
}

/// One advertisement or scan response, reassembled if necessary.
package struct ReceivedPacket: Equatable, Sendable {
    package let address: DeviceAddress
    package let isConnectable: Bool
    package let isScanResponse: Bool
    package let rssi: RSSI
    package let data: [UInt8]
    package let packet: AdvertisementPacket
}

/// A link, as reported by the controller.
package struct RadioLink: Equatable, Sendable {
    package let handle: ConnectionHandle
    package let peer: PeerIdentifier
    package let address: DeviceAddress
    package let role: LinkRole

    package init(handle: ConnectionHandle, peer: PeerIdentifier, address: DeviceAddress, role: LinkRole) {
        self.handle = handle
        self.peer = peer
        self.address = address
        self.role = role
    }
}
