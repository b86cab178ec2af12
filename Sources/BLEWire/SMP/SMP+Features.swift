extension SMP {
    /// What a device offers and wants when it pairs: all of a Pairing Request or Pairing Response behind its code.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.1 and 3.5.2.
    package struct PairingFeatures: Packet {
        package var ioCapability = IOCapability.displayOnly
        package var outOfBand = OutOfBandFlag.notPresent
        package var authentication: AuthenticationRequirements = []
        /// In octets, 7 to 16; anything else is a fault of the peer.
        package var greatestKeySize: UInt8 = 0
        package var initiatorKeys: KeyDistribution = []
        package var responderKeys: KeyDistribution = []

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&ioCapability, "IO Capability")
            try wire.field(&outOfBand, "OOB Data Flag")
            try wire.field(&authentication, "AuthReq")
            try wire.integer(&greatestKeySize, "Maximum Encryption Key Size")
            try wire.field(&initiatorKeys, "Initiator Key Distribution")
            try wire.field(&responderKeys, "Responder Key Distribution")
        }
    }

    /// Asks the central to encrypt, and to pair if there is no key for that.
    ///
    /// Core 6.0, Vol 3, Part H, 3.6.7.
    package struct SecurityRequest: Packet {
        package var authentication: AuthenticationRequirements = []

        package init() {}
        package init(_ authentication: AuthenticationRequirements) { self.authentication = authentication }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&authentication, "AuthReq")
        }
    }

    /// How a device can show something to its user and be told something.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.2 and 3.5.1.
    package enum IOCapability: UInt8, WireField, CaseIterable, CustomStringConvertible {
        case displayOnly = 0
        case displayYesNo = 1
        case keyboardOnly = 2
        case noInputNoOutput = 3
        case keyboardDisplay = 4

        package var description: String {
            switch self {
            case .displayOnly: "DisplayOnly"
            case .displayYesNo: "DisplayYesNo"
            case .keyboardOnly: "KeyboardOnly"
            case .noInputNoOutput: "NoInputNoOutput"
            case .keyboardDisplay: "KeyboardDisplay"
            }
        }
    }

    /// Whether a device has learnt something of the other by other means than Bluetooth.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.3 and 3.5.1.
    package enum OutOfBandFlag: UInt8, WireField, CustomStringConvertible {
        case notPresent = 0
        case present = 1

        package var description: String {
            switch self {
            case .notPresent: "not present"
            case .present: "present"
            }
        }
    }

    /// What a device wants of pairing.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.1, figure 3.3.
    package struct AuthenticationRequirements: OptionSet, WireField, Hashable, CustomStringConvertible {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package init(wire: UInt8) { rawValue = wire }

        /// The keys are to be kept.
        package static let bonding = Self(rawValue: 1 << 0)
        /// The second bit of the bonding flags, which is reserved.
        package static let reservedBonding = Self(rawValue: 1 << 1)
        /// Nobody may be able to stand between the two devices.
        package static let mitm = Self(rawValue: 1 << 2)
        package static let secureConnections = Self(rawValue: 1 << 3)
        /// The other device is to be told of each key that is pressed.
        package static let keypress = Self(rawValue: 1 << 4)
        /// The function h7 is known.
        package static let ct2 = Self(rawValue: 1 << 5)

        /// Whether the bonding flags say that the keys are to be kept.
        package var isBonding: Bool { intersection([.bonding, .reservedBonding]) == .bonding }

        package var description: String {
            names(of: ["bonding", "reserved bonding flag", "MITM", "SC", "keypress", "CT2"])
        }
    }

    /// Which keys a device gives to the other when the link is encrypted.
    ///
    /// Core 6.0, Vol 3, Part H, 3.6.1, figure 3.11.
    package struct KeyDistribution: OptionSet, WireField, Hashable, CustomStringConvertible {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package init(wire: UInt8) { rawValue = wire }

        /// A key to encrypt with, where the pairing itself makes none.
        package static let encryption = Self(rawValue: 1 << 0)
        /// What its private addresses are made with, and its identity address.
        package static let identity = Self(rawValue: 1 << 1)
        /// What it signs with.
        package static let signing = Self(rawValue: 1 << 2)
        /// A key for BR/EDR that is derived from the one for LE.
        package static let link = Self(rawValue: 1 << 3)

        package var description: String { names(of: ["EncKey", "IdKey", "SignKey", "LinkKey"]) }
    }
}
