/// The Security Manager Protocol (SMP), which two devices use to agree on a key for their link and to distribute
/// further keys.
///
/// Core 6.0, Vol 3, Part H, 3.
package enum SMP {
    /// The time after which a pairing procedure fails if the peer sends no packet.
    ///
    /// Core 6.0, Vol 3, Part H, 3.4.
    package static let timeout = Duration.seconds(30)

    /// The range of key sizes, in octets.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.4.
    package static let keySizes = 7...16

    /// The range of passkeys, which have up to six decimal digits.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.5.3.
    package static let passkeys: ClosedRange<UInt32> = 0...999_999

    /// The code in the first octet of every SMP packet.
    ///
    /// Core 6.0, Vol 3, Part H, 3.3, table 3.3.
    package struct Opcode: WireField, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let pairingRequest = Self(wire: 0x01)
        package static let pairingResponse = Self(wire: 0x02)
        package static let pairingConfirm = Self(wire: 0x03)
        package static let pairingRandom = Self(wire: 0x04)
        package static let pairingFailed = Self(wire: 0x05)
        package static let encryptionInformation = Self(wire: 0x06)
        package static let centralIdentification = Self(wire: 0x07)
        package static let identityInformation = Self(wire: 0x08)
        package static let identityAddressInformation = Self(wire: 0x09)
        package static let signingInformation = Self(wire: 0x0A)
        package static let securityRequest = Self(wire: 0x0B)
        package static let pairingPublicKey = Self(wire: 0x0C)
        package static let pairingDHKeyCheck = Self(wire: 0x0D)
        package static let pairingKeypressNotification = Self(wire: 0x0E)

        /// All codes that the specification defines.
        ///
        /// Receivers ignore packets with other codes.
        package static let all = (UInt8(0x01)...0x0E).map { Self(wire: $0) }
    }

    /// The reason why pairing has failed.
    ///
    /// Core 6.0, Vol 3, Part H, 3.5.5, table 3.7.
    package struct Reason: WireField, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let passkeyEntryFailed = Self(wire: 0x01)
        package static let oobNotAvailable = Self(wire: 0x02)
        package static let authenticationRequirements = Self(wire: 0x03)
        package static let confirmValueFailed = Self(wire: 0x04)
        package static let pairingNotSupported = Self(wire: 0x05)
        package static let encryptionKeySize = Self(wire: 0x06)
        package static let commandNotSupported = Self(wire: 0x07)
        package static let unspecified = Self(wire: 0x08)
        package static let repeatedAttempts = Self(wire: 0x09)
        package static let invalidParameters = Self(wire: 0x0A)
        package static let dhKeyCheckFailed = Self(wire: 0x0B)
        package static let numericComparisonFailed = Self(wire: 0x0C)
        package static let classicPairingInProgress = Self(wire: 0x0D)
        package static let crossTransportKeysNotAllowed = Self(wire: 0x0E)
        package static let keyRejected = Self(wire: 0x0F)
        package static let busy = Self(wire: 0x10)
    }
}

extension SMP.Opcode: CustomStringConvertible {
    /// The name, such as "Pairing Request".
    package var description: String {
        let names = [
            "Pairing Request", "Pairing Response", "Pairing Confirm", "Pairing Random", "Pairing Failed",
            "Encryption Information", "Central Identification", "Identity Information",
            "Identity Address Information", "Signing Information", "Security Request", "Pairing Public Key",
            "Pairing DHKey Check", "Pairing Keypress Notification",
        ]
        return 1...names.count ~= Int(wire) ? names[Int(wire) - 1] : "Code 0x" + [wire].hexadecimal
    }
}

extension SMP.Reason: CustomStringConvertible {
    package var description: String {
        let names = [
            "Passkey Entry Failed", "OOB Not Available", "Authentication Requirements", "Confirm Value Failed",
            "Pairing Not Supported", "Encryption Key Size", "Command Not Supported", "Unspecified Reason",
            "Repeated Attempts", "Invalid Parameters", "DHKey Check Failed", "Numeric Comparison Failed",
            "BR/EDR Pairing In Progress", "Cross-transport Key Derivation Not Allowed", "Key Rejected", "Busy",
        ]
        return 1...names.count ~= Int(wire) ? names[Int(wire) - 1] : "Reason 0x" + [wire].hexadecimal
    }
}
