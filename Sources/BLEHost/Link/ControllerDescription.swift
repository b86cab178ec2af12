import BLEWire

/// The description of a controller: what the controller reports, and what the host derives from the report.
struct ControllerDescription: Equatable, Sendable {
    /// The manufacturer: ``CompanyIdentifier/none`` for a virtual controller; `nil` if it has not been reported.
    var company: CompanyIdentifier?
    /// The HCI Subversion, a number that the manufacturer defines.
    var subversion: UInt16 = 0
    var commands = SupportedCommands()
    /// The features of the link manager: bit 37 is BR/EDR Not Supported, bit 38 is LE Supported (Controller).
    var classicFeatures: UInt64 = 0
    /// The LE features that the controller reports; the host may use only ``features``.
    var claimedFeatures: LEFeatures = []
    /// The identity address of this host.
    var address = DeviceAddress.none
    /// The random static address of this host, which is the identity address if the controller has no public one.
    var randomAddress = DeviceAddress.none
    /// The private address that unbonded peers see; `nil` if they see the identity address.
    var privateAddress: DeviceAddress?
    /// True if the controller uses the resolving list.
    var resolvesAddresses = false
    /// The capacity of the resolving list, in entries.
    var resolvingListSize = 0
    /// The size of an ACL buffer, in octets.
    var bufferSize = 0
    var bufferCount = 0
    var acceptListSize = 0
    /// The bits for the supported combinations of states: Core 6.0, Vol 4, Part E, 7.8.27.
    var states: UInt64 = 0
    /// The maximum payload of a link-layer packet, in octets, and the packet's maximum duration, in microseconds; `nil`
    /// if the controller has not reported them.
    var dataLength: (octets: UInt16, time: UInt16)?

    static func == (a: Self, b: Self) -> Bool {
        a.commands == b.commands && a.claimedFeatures == b.claimedFeatures && a.address == b.address
            && a.privateAddress == b.privateAddress && a.resolvesAddresses == b.resolvesAddresses
            && a.bufferSize == b.bufferSize && a.bufferCount == b.bufferCount
    }

    var isLowEnergy: Bool { classicFeatures & 1 << 38 != 0 }
    var isDualMode: Bool { classicFeatures & 1 << 37 == 0 }

    /// The interpretation of the controller's report, with known quirks taken into account.
    private var quirks: ControllerQuirks {
        ControllerQuirks(
            ControllerReport(
                commands: commands,
                features: claimedFeatures,
                address: address,
                buffers: bufferCount,
                sharesBuffers: false
            )
        )
    }

    /// The features that the host may use.
    var features: LEFeatures { quirks.features }

    /// True if the host uses extended commands for advertising, scanning and connecting.
    var usesExtendedCommands: Bool { quirks.usesExtendedCommands }

    /// The usable capacity of the resolving list; 0 if this host must resolve private addresses itself.
    var resolvingListCapacity: Int { quirks.resolvesAddresses ? resolvingListSize : 0 }

    /// The optional features that clients can use.
    var hostFeatures: HostFeatures { usesExtendedCommands ? .extendedScanAndConnect : [] }

    /// The address that unbonded peers see.
    var visibleAddress: DeviceAddress { privateAddress ?? address }

    /// Returns the own-address type of HCI commands for a kind of address; `nil` if this host has no such address.
    ///
    /// If `kind` is `nil`, the result is the type of the address that unbonded peers see.
    func ownAddress(_ kind: OwnAddressKind?) -> HCI.OwnAddress? {
        switch kind {
        case nil: ownAddress
        case .public: address.kind == .public ? .public : nil
        case .random: .random
        case .resolvable: privateAddress == nil ? nil : ownAddress
        }
    }

    /// Returns the address that peers see in an advertising set that uses this kind of own address.
    ///
    /// If `kind` is `nil`, the result is the address that unbonded peers see.
    func setAddress(_ kind: OwnAddressKind?) -> DeviceAddress {
        switch kind {
        case .public: address
        case .random: randomAddress
        case nil, .resolvable: visibleAddress
        }
    }

    /// Returns the address of this kind that this host uses outside of extended advertising; `nil` if there is none.
    ///
    /// Scanning, connecting and legacy advertising share one random address. If `kind` is `nil`, the result is the
    /// address that unbonded peers see.
    func commonAddress(_ kind: OwnAddressKind?) -> DeviceAddress? {
        switch kind {
        case nil: visibleAddress
        case .public: address.kind == .public ? address : nil
        case .random: visibleAddress.kind == .random ? visibleAddress : nil
        case .resolvable: privateAddress
        }
    }

    var ownAddress: HCI.OwnAddress {
        guard privateAddress != nil else { return address.kind == .public ? .public : .random }
        return resolvesAddresses ? .resolvableOrRandom : .random
    }

    /// True if the controller can continue active scanning while initiating.
    var scansWhileInitiating: Bool { states & 1 << 23 != 0 }
}
