package import BLEWire

extension Host {
    /// What a host is made with.
    package struct Configuration: Sendable {
        /// The name that peers read in the GAP service.
        package var name: String
        /// What peers read there about what the device looks like: Assigned Numbers, 2.6.
        package var appearance: UInt16
        /// A number that this host drew once and tells nobody: from it come the identifiers of peers.
        package var identifierSecret: UInt128
        /// Peers that an earlier run said to remember.
        package var knownPeers: [PeerRecord]
        /// The largest ATT packet that this host takes, in octets.
        package var preferredMTU: Int
        /// The length of the shortest key, in octets, that protects what requires encryption, 7 to 16.
        package var leastKeySize: Int
        /// How long nothing may be heard on a link before it counts as lost; never less than 720 ms.
        package var supervisionTimeout: Duration
        /// How often the ends of links meet that this host makes; 15 ms to 30 ms if `nil`.
        package var connectionInterval: ConnectionInterval?
        /// How many of these meetings the peripheral may leave out when it has nothing to say.
        package var peripheralLatency: PeripheralLatency
        /// Whether peers may open Enhanced ATT bearers on encrypted links, on which they ask several things at once.
        package var offersEnhancedBearers: Bool
        /// The random static address of this host; `nil` for the public one of the controller or, if it has none, one
        /// that is made of the secret.
        package var staticAddress: DeviceAddress?
        /// Whether strangers see private addresses that change, and paired peers get the key to know this host by.
        package var isPrivate: Bool
        /// How long a private address is used.
        package var addressLifetime: PrivateAddressTimeout
        /// What this host offers when it pairs; who asks the user, and a policy, say the rest.
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
