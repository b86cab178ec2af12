package import BLEWire

extension Host {
    /// The configuration of a host.
    package struct Configuration: Sendable {
        /// The Device Name in the GAP service.
        package var name: String
        /// The Appearance in the GAP service: Assigned Numbers, 2.6.
        package var appearance: UInt16
        /// A secret random number of this host, from which the peer identifiers are derived.
        package var identifierSecret: UInt128
        /// The peers that were stored by earlier runs.
        package var knownPeers: [PeerRecord]
        /// The ATT MTU that this host offers, in octets.
        package var preferredMTU: Int
        /// The minimum key size for everything that requires encryption, in octets, 7 to 16.
        package var leastKeySize: Int
        /// The supervision timeout; at least 720 ms.
        package var supervisionTimeout: Duration
        /// The connection interval of links that this host creates; if `nil`, 7.5 ms at first, and then 15 ms to 30 ms.
        package var connectionInterval: ConnectionInterval?
        /// The number of connection events that the peripheral may skip on links that this host creates.
        package var peripheralLatency: PeripheralLatency
        /// True if peers may open Enhanced ATT bearers on encrypted links.
        package var offersEnhancedBearers: Bool
        /// The random static address of this host; if `nil`, the host uses the controller's public address or, if the
        /// controller has none, an address derived from ``identifierSecret``.
        package var staticAddress: DeviceAddress?
        /// True if the host uses private addresses and sends its IRK to peers that pair with it.
        package var isPrivate: Bool
        /// The time after which the host changes its private address.
        package var addressLifetime: PrivateAddressTimeout
        /// The pairing features of this host, except those that depend on the agent or on clients' policies.
        package var pairing: SecurityManager.Configuration
        package var limits: Limits

        package init(
            name: String = "",
            appearance: UInt16 = 0,
            identifierSecret: UInt128,
            knownPeers: [PeerRecord] = [],
            preferredMTU: Int = ATT.maximumMTU,
            leastKeySize: Int = 7,
            supervisionTimeout: Duration = .seconds(2),
            connectionInterval: ConnectionInterval? = nil,
            peripheralLatency: PeripheralLatency = .none,
            offersEnhancedBearers: Bool = true,
            staticAddress: DeviceAddress? = nil,
            isPrivate: Bool = false,
            addressLifetime: PrivateAddressTimeout = .standard,
            pairing: SecurityManager.Configuration = .init(),
            limits: Limits = Limits()
        ) {
            self.name = name
            self.appearance = appearance
            self.identifierSecret = identifierSecret
            self.knownPeers = knownPeers
            self.preferredMTU = preferredMTU
            self.leastKeySize = leastKeySize
            self.supervisionTimeout = supervisionTimeout
            self.connectionInterval = connectionInterval
            self.peripheralLatency = peripheralLatency
            self.offersEnhancedBearers = offersEnhancedBearers
            self.staticAddress = staticAddress
            self.isPrivate = isPrivate
            self.addressLifetime = addressLifetime
            self.pairing = pairing
            self.limits = limits
        }
    }
}
