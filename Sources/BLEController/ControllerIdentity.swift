package import BLEWire

/// The fixed properties of a controller.
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

        /// A controller of Core 5.3, with all features that are implemented here.
        package static let core5 = Self(
            version: 0x0C,
            features: [
                .encryption, .connectionParametersRequest, .extendedRejectIndication,
                .peripheralInitiatedFeaturesExchange, .ping,
                .dataPacketLengthExtension, .privacy, .extendedScanningFilterPolicies, .phy2M, .phyCoded,
                .extendedAdvertising, .channelSelectionAlgorithm2, .remotePublicKeyValidation,
            ]
        )
        /// A controller of Core 4.0: legacy advertising, 1M PHY, packets of 27 octets, few procedures.
        package static let legacyOnly = Self(version: 0x06, features: [.encryption])
    }

    /// A unique public address.
    package var address: DeviceAddress
    package var profile: Profile
    package var position: Position
    /// In dBm.
    package var transmitPower: Int
    /// The HCI Subversion; larger than ``standardSubversion``, it tells this run of the radio from others.
    package var subversion = Self.standardSubversion

    /// The HCI Subversion of a controller whose run has no number.
    package static let standardSubversion: UInt16 = 1

    package init(
        address: DeviceAddress,
        profile: Profile = .core5,
        position: Position = .init(),
        transmitPower: Int = 0
    ) {
        self.address = address
        self.profile = profile
        self.position = position
        self.transmitPower = min(max(transmitPower, -40), 20)
    }
}
