package import BLEWire

/// What a test suite asks of the radio itself, which apps of Core Bluetooth cannot.
///
/// Only clients with the role ``ClientRole/tester`` are told ``TesterEvent``s; they may ask for all else, too.
package enum TesterRequest: Equatable, Sendable {
    /// Forgets all bonds and resets the controller: the client hears of both states.
    case reset
    /// Answered by ``TesterEvent/localAddress(_:)``.
    case readLocalAddress
    /// Answered by ``TesterEvent/found(_:at:)``, with what this host calls whoever has that address.
    case find(DeviceAddress)
    /// Advertises in a set of its own, until ``stopSet(_:)``; answered by ``TesterEvent/setStarted(_:_:)``.
    ///
    /// The client chooses the number, unique among its own. An advertisement that centrals connect to goes on after
    /// that, unless it is for one of them.
    case startSet(AdvertisingSetID, AdvertisingSetRequest)
    /// Answered by ``TesterEvent/setEnded(_:)``.
    case stopSet(AdvertisingSetID)
    /// Reports every packet of advertisers from now on; answered by ``TesterEvent/listening(_:)``.
    ///
    /// While an app scans as well, its parameters count.
    case listen(ScanParameters)
    case stopListening
    /// Has a link encrypted, with a key that was authenticated if that is needed: by the bond that there is, or by a
    /// new pairing.
    ///
    /// Answered by ``SecurityEvent/secured(_:_:isBonded:)`` or ``SecurityEvent/failed(_:_:)``, unless the link ends.
    case secure(PeerIdentifier, needsAuthentication: Bool)
}

/// What the radio does, for test suites.
package enum TesterEvent: Equatable, Sendable {
    /// The address that this host keeps.
    case localAddress(DeviceAddress)
    case found(PeerIdentifier, at: DeviceAddress)
    case setStarted(AdvertisingSetID, Failure?)
    /// The set is not on the air any more, and will not be.
    case setEnded(AdvertisingSetID)
    case listening(Failure?)
    case heard(HeardPacket)
    case linkMade(RadioLink)
    case linkEnded(ConnectionHandle, HCI.Status)
}

/// An advertising set of a client, as the client that starts it names it.
package struct AdvertisingSetID: Hashable, Comparable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// What an advertising set is to say, and how.
package struct AdvertisingSetRequest: Equatable, Sendable {
    package var parameters: AdvertisingParameters
    /// At most 31 octets in legacy packets; 1 650 otherwise, or 245 if centrals may connect.
    package var data: [UInt8]
    /// At most 31 octets in legacy packets, 251 otherwise.
    package var scanResponse: [UInt8]

    package init(_ parameters: AdvertisingParameters, data: [UInt8] = [], scanResponse: [UInt8] = []) {
        self.parameters = parameters
        self.data = data
        self.scanResponse = scanResponse
    }

    /// What goes on the air; `nil` if it finds no room, or there is no such advertisement.
    var content: AdvertisementContent? {
        guard parameters.isPossible, data.count <= parameters.longestData,
            scanResponse.count <= parameters.longestScanResponse
        else { return nil }
        return AdvertisementContent(advertisement: data, scanResponse: scanResponse, parameters: parameters)
    }
}

/// One packet of an advertiser, with data that came in several parts put together.
package struct HeardPacket: Equatable, Sendable {
    package let address: DeviceAddress
    package let isConnectable: Bool
    package let isScanResponse: Bool
    package let rssi: RSSI
    package let data: [UInt8]
    package let packet: AdvertisementPacket
}

/// A link, as the controller tells of it.
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
