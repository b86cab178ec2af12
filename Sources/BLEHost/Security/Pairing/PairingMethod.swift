package import BLEWire

/// The method by which two devices authenticate each other.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.1.
package enum PairingMethod: Equatable, Hashable, Sendable {
    /// No authentication.
    case justWorks
    /// One device displays a passkey and the user enters it on the other, or the user enters a passkey on both.
    case passkeyEntry(PasskeyEntry)
    /// The user compares the numbers on both devices.
    case numericComparison
    /// The devices authenticate each other with data that they have exchanged by means other than Bluetooth.
    case outOfBand

    /// True for methods with MITM protection.
    package var isAuthenticated: Bool {
        switch self {
        case .justWorks: false
        case .passkeyEntry, .numericComparison, .outOfBand: true
        }
    }

    /// The devices that display the passkey, and the devices on which the user enters the passkey.
    package enum PasskeyEntry: Equatable, Hashable, Sendable {
        case initiatorDisplays
        case responderDisplays
        /// The user chooses a passkey and enters it on both devices.
        case bothInput
    }

    /// Returns the method for the capabilities of two devices, if MITM protection is required.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.5.1, table 2.8.
    package static func method(
        initiator: SMP.IOCapability,
        responder: SMP.IOCapability,
        isSecureConnections: Bool
    ) -> Self {
        let cell = table[Int(responder.rawValue)][Int(initiator.rawValue)]
        return isSecureConnections ? cell.secure : cell.legacy
    }

    /// A cell of ``table``: the method in legacy pairing, and the method with LE Secure Connections.
    private struct Cell {
        let legacy: PairingMethod
        let secure: PairingMethod

        static let works = Self(legacy: .justWorks, secure: .justWorks)
        static let initiatorShows = both(.initiatorDisplays)
        static let responderShows = both(.responderDisplays)
        static let input = both(.bothInput)
        static let compare = Self(legacy: .justWorks, secure: .numericComparison)
        static let compareOrInitiatorShows = compare(or: .initiatorDisplays)
        static let compareOrResponderShows = compare(or: .responderDisplays)

        private static func both(_ entry: PasskeyEntry) -> Self {
            Self(legacy: .passkeyEntry(entry), secure: .passkeyEntry(entry))
        }

        private static func compare(or entry: PasskeyEntry) -> Self {
            Self(legacy: .passkeyEntry(entry), secure: .numericComparison)
        }
    }

    /// The table of methods: a row per capability of the responder, a column per capability of the initiator, in the
    /// order DisplayOnly, DisplayYesNo, KeyboardOnly, NoInputNoOutput, KeyboardDisplay.
    private static let table: [[Cell]] = [
        [.works, .works, .responderShows, .works, .responderShows],
        [.works, .compare, .responderShows, .works, .compareOrResponderShows],
        [.initiatorShows, .initiatorShows, .input, .works, .initiatorShows],
        [.works, .works, .works, .works, .works],
        [.initiatorShows, .compareOrInitiatorShows, .responderShows, .works, .compareOrInitiatorShows],
    ]
}
