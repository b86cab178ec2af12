package import BLEWire

/// How two devices make sure of each other when they pair.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.1.
package enum PairingMethod: Equatable, Hashable, Sendable {
    /// Not at all.
    case justWorks
    /// The user carries a passkey from one to the other.
    case passkeyEntry(PasskeyEntry)
    /// The user sees that both show one number.
    case numericComparison
    /// They have told each other something by other means.
    case outOfBand

    /// Whether somebody in between is kept out.
    package var isAuthenticated: Bool {
        switch self {
        case .justWorks: false
        case .passkeyEntry, .numericComparison, .outOfBand: true
        }
    }

    /// Who shows the passkey, and who is told it.
    package enum PasskeyEntry: Equatable, Hashable, Sendable {
        case initiatorDisplays
        case responderDisplays
        /// The user thinks of one and types it in at both.
        case bothInput
    }

    /// The method that follows from what two devices can show and be told, if somebody in between is to be kept out.
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

    /// What a cell of the table says for both generations.
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

    /// A row for each capability of the responder, a column for each of the initiator, in the order of their codes:
    /// DisplayOnly, DisplayYesNo, KeyboardOnly, NoInputNoOutput, KeyboardDisplay.
    private static let table: [[Cell]] = [
        [.works, .works, .responderShows, .works, .responderShows],
        [.works, .compare, .responderShows, .works, .compareOrResponderShows],
        [.initiatorShows, .initiatorShows, .input, .works, .initiatorShows],
        [.works, .works, .works, .works, .works],
        [.initiatorShows, .compareOrInitiatorShows, .responderShows, .works, .compareOrInitiatorShows],
    ]
}
