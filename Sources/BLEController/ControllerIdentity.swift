package import BLEWire

/// The properties of a controller that its host cannot change.
package struct ControllerIdentity: Sendable {
    /// The capabilities of a controller: its commands, and the features that it reports to peers.
    package struct Profile: Hashable, Sendable {
        /// The version of the Core Specification, as numbered in HCI and the link layer.
        package var version: UInt8
        /// The features of the link layer.
        package var features: LEFeatures

        package init(version: UInt8, features: LEFeatures) {
            self.version = version
            self.features = features
        }

        /// A Core 5.3 controller with every feature that this module implements.
        package static let core5 = Self(
            version: 0x0C,
            features: [
                .encryption, .connectionParametersRequest, .extendedRejectIndication,
                .peripheralInitiatedFeaturesExchange, .ping,
                .dataPacketLengthExtension, .privacy, .extendedScanningFilterPolicies, .phy2M, .phyCoded,
                .extendedAdvertising, .channelSelectionAlgorithm2, .remotePublicKeyValidation,
            ]
        )
        /// A Core 4.0 controller: only legacy advertising, the 1M PHY, packets of up to 27 octets, and no optional
        /// feature except encryption.
        package static let legacyOnly = Self(version: 0x06, features: [.encryption])
    }

    /// The controller's public address, which no other controller has.
    package var address: DeviceAddress
    package var profile: Profile
    package var position: Position
    /// The transmit power, in dBm.
    package var transmitPower: Int
    /// The maximum number of connections, in both roles.
    package var maximumConnections: Int
    /// The HCI Subversion that the controller reports.
    ///
    /// A virtual radio uses a value that is larger than ``standardSubversion`` and differs from run to run, so that
    /// hosts notice when the radio has been restarted.
    package var subversion = Self.standardSubversion

    /// The default of ``subversion``.
    package static let standardSubversion: UInt16 = 1
    /// The default of ``maximumConnections``.
    package static let standardConnections = 250

    package init(
        address: DeviceAddress,
        profile: Profile = .core5,
        position: Position = .init(),
        transmitPower: Int = 0,
        maximumConnections: Int = Self.standardConnections
    ) {
        self.address = address
        self.profile = profile
        self.position = position
        self.transmitPower = min(max(transmitPower, -40), 20)
        self.maximumConnections = maximumConnections
    }
}

/// The identifier of a controller on an ``Air``; controllers are numbered from 0 in the order in which they are added.
package struct ControllerID: Hashable, Comparable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// An unordered pair of controllers.
package struct ControllerPair: Hashable, Sendable {
    package let lower: ControllerID
    package let upper: ControllerID

    package init(_ a: ControllerID, _ b: ControllerID) {
        lower = min(a, b)
        upper = max(a, b)
    }
}
