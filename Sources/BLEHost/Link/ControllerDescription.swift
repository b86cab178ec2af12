import BLEWire

/// What a controller says that it is and can do.
struct ControllerDescription: Equatable, Sendable {
    /// Who made it; ``CompanyIdentifier/none`` if it is virtual.
    var company: CompanyIdentifier?
    /// The HCI Subversion, a number of its maker's.
    var subversion: UInt16 = 0
    var commands = SupportedCommands()
    /// What its link manager knows: bit 37 stands for BR/EDR Not Supported, bit 38 for LE Supported (Controller).
    var classicFeatures: UInt64 = 0
    /// The features that it says it has.
    var claimedFeatures: LEFeatures = []
    /// The address that this host keeps.
    var address = DeviceAddress.none
    /// The random static address of this host, which it keeps where the controller has no public one.
    var randomAddress = DeviceAddress.none
    /// What strangers see instead of it; `nil` if they see it.
    var privateAddress: DeviceAddress?
    /// Whether the controller makes and resolves private addresses with the keys that it was given.
    var resolvesAddresses = false
    /// How many peers it can know by their keys.
    var resolvingListSize = 0
    /// How large one buffer for ACL data is, in octets.
    var bufferSize = 0
    var bufferCount = 0
    var acceptListSize = 0
    /// Which activities it combines: Core 6.0, Vol 4, Part E, 7.8.27.
    var states: UInt64 = 0
    /// The longest packets that it sends on the air, in octets and microseconds.
    var dataLength: (octets: UInt16, time: UInt16)?

    static func == (a: Self, b: Self) -> Bool {
        a.commands == b.commands && a.claimedFeatures == b.claimedFeatures && a.address == b.address
            && a.privateAddress == b.privateAddress && a.resolvesAddresses == b.resolvesAddresses
            && a.bufferSize == b.bufferSize && a.bufferCount == b.bufferCount
    }

    var isLowEnergy: Bool { classicFeatures & 1 << 38 != 0 }
    var isDualMode: Bool { classicFeatures & 1 << 37 == 0 }

    /// What is made of what it says.
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

    /// The features to rely on.
    var features: LEFeatures { quirks.features }

    /// Whether to use the commands of extended advertising for everything.
    var usesExtendedCommands: Bool { quirks.usesExtendedCommands }

    /// How many peers it can know by their keys; 0 if this host has to resolve private addresses itself.
    var friendCapacity: Int { quirks.resolvesAddresses ? resolvingListSize : 0 }

    /// What clients can count on beyond the least.
    var hostFeatures: HostFeatures { usesExtendedCommands ? .extendedScanAndConnect : [] }

    /// The address that strangers see.
    var shownAddress: DeviceAddress { privateAddress ?? address }

    /// Which address to use where one of this kind is asked for; `nil` if there is none.
    func ownAddress(_ kind: OwnAddressKind?) -> HCI.OwnAddress? {
        switch kind {
        case nil: ownAddress
        case .public: address.kind == .public ? .public : nil
        case .random: .random
        case .resolvable: privateAddress == nil ? nil : ownAddress
        }
    }

    /// The address of this kind that an advertising set shows.
    func setAddress(_ kind: OwnAddressKind?) -> DeviceAddress {
        switch kind {
        case .public: address
        case .random: randomAddress
        case nil, .resolvable: shownAddress
        }
    }

    /// The address of this kind that is shown where only one random address can be in use; `nil` if there is none.
    func commonAddress(_ kind: OwnAddressKind?) -> DeviceAddress? {
        switch kind {
        case nil: shownAddress
        case .public: address.kind == .public ? address : nil
        case .random: shownAddress.kind == .random ? shownAddress : nil
        case .resolvable: privateAddress
        }
    }

    var ownAddress: HCI.OwnAddress {
        guard privateAddress != nil else { return address.kind == .public ? .public : .random }
        return resolvesAddresses ? .resolvableOrRandom : .random
    }

    /// Whether it goes on scanning actively while it tries to connect.
    var scansWhileInitiating: Bool { states & 1 << 23 != 0 }
}
