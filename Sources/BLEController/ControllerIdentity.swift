package import BLEWire

/// What a controller is born with.
package struct ControllerIdentity: Sendable {
    /// What a controller can do: which commands it knows, and what it says to other link layers.
    package struct Profile: Hashable, Sendable {
        /// The version number of the Core Specification, as HCI and the link layer say it.
        package var version: UInt8
        /// A bit for each feature of the link layer.
        package var features: LEFeatures

        package init(version: UInt8, features: LEFeatures) {
            self.version = version
            self.features = features
        }

        /// A controller of Core 5.3: everything that this link layer does.
        package static let core5 = Self(
            version: 0x0C,
            features: [
                .encryption, .connectionParametersRequest, .extendedRejectIndication,
                .peripheralInitiatedFeaturesExchange, .ping,
                .dataPacketLengthExtension, .privacy, .extendedScanningFilterPolicies, .phy2M, .phyCoded,
                .extendedAdvertising, .channelSelectionAlgorithm2, .remotePublicKeyValidation,
            ]
        )
        /// A controller of Core 4.0: legacy advertising, 1M, packets of 27 octets, no procedures beyond the first.
        package static let legacyOnly = Self(version: 0x06, features: [.encryption])
    }

    /// Public, and its own alone.
    package var address: DeviceAddress
    package var profile: Profile
    package var position: Position
    /// In dBm.
    package var transmitPower: Int

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
