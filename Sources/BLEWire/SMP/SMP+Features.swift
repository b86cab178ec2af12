extension SMP {
    /// The features and requirements of a device: the contents of a Pairing Request or Pairing Response.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.1 and 3.5.2.
    package struct PairingFeatures: Packet {
        package var ioCapability = IOCapability.displayOnly
        package var outOfBand = OutOfBandFlag.notPresent
        package var authentication: AuthenticationRequirements = []
        /// The maximum key size that the device supports, 7 to 16 octets; a peer that sends another value violates the
        /// specification.
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

    /// A peripheral's request that the central encrypt the link, or start pairing if there is no key.
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

    /// The input and output capabilities of a device.
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

    /// A flag that says whether a device has received the other device's out-of-band data.
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

    /// The authentication requirements of a device.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.1, figure 3.3.
    package struct AuthenticationRequirements: OptionSet, WireField, Hashable, CustomStringConvertible {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package init(wire: UInt8) { rawValue = wire }

        /// The device stores the keys after pairing.
        package static let bonding = Self(rawValue: 1 << 0)
        /// The second bit of the bonding flags, which is reserved.
        package static let reservedBonding = Self(rawValue: 1 << 1)
        /// The device requires protection against man-in-the-middle attacks.
        package static let mitm = Self(rawValue: 1 << 2)
        package static let secureConnections = Self(rawValue: 1 << 3)
        /// The device supports keypress notifications.
        package static let keypress = Self(rawValue: 1 << 4)
        /// The device supports the cryptographic function h7.
        package static let ct2 = Self(rawValue: 1 << 5)

        /// True if the bonding flags request that both devices store the keys.
        package var isBonding: Bool { intersection([.bonding, .reservedBonding]) == .bonding }

        package var description: String {
            names(of: ["bonding", "reserved bonding flag", "MITM", "SC", "keypress", "CT2"])
        }
    }

    /// The keys that a device distributes after the link is encrypted.
    ///
    /// Core 6.0, Vol 3, Part H, 3.6.1, figure 3.11.
    package struct KeyDistribution: OptionSet, WireField, Hashable, CustomStringConvertible {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package init(wire: UInt8) { rawValue = wire }

        /// The LTK; with LE Secure Connections, pairing itself generates the LTK and none is distributed.
        package static let encryption = Self(rawValue: 1 << 0)
        /// The IRK and the identity address.
        package static let identity = Self(rawValue: 1 << 1)
        /// The CSRK.
        package static let signing = Self(rawValue: 1 << 2)
        /// A BR/EDR link key derived from the LTK.
        package static let link = Self(rawValue: 1 << 3)

        package var description: String { names(of: ["EncKey", "IdKey", "SignKey", "LinkKey"]) }
    }
}
