package import BLECrypto
package import BLEWire

extension SecurityManager {
    /// What this host offers and wants when it pairs.
    package struct Configuration: Sendable {
        /// Which generation of pairing this host takes part in.
        package enum SecureConnections: Equatable, Sendable {
            /// LE Secure Connections if the peer can, too; otherwise as before Core 4.2.
            case preferred
            /// Nothing else: peers from before Core 4.2 are refused.
            case required
            /// As before Core 4.2 in any case, for tests.
            case off
        }

        /// Whether somebody in between must be kept out.
        package enum Protection: Int, Comparable, Sendable {
            case none
            /// If that is possible with what the two devices have.
            case preferred
            /// Or there is no pairing.
            case required

            package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
        }

        package var ioCapability = SMP.IOCapability.noInputNoOutput
        package var outOfBand = OutOfBandData()
        /// Whether keys are kept.
        package var isBonding = true
        package var protection = Protection.preferred
        package var secureConnections = SecureConnections.preferred
        /// The shortest key that will do, in octets, 7 to 16.
        package var leastKeySize = 16
        /// The longest key that this host offers, in octets, 7 to 16 and no less than ``leastKeySize``.
        package var greatestKeySize = 16
        /// Which keys the central gives, as far as it has them; ``SMP/KeyDistribution/link`` is never offered.
        package var initiatorKeys: SMP.KeyDistribution = [.encryption, .identity]
        /// Which keys the peripheral gives, as far as it has them.
        package var responderKeys: SMP.KeyDistribution = [.encryption, .identity]
        /// Whether the user is asked before a peripheral pairs in a way in which nothing else is asked.
        ///
        /// Where that would replace a bond the user is asked in any case, in both roles.
        package var asksForConsent = true
        /// Whether the user is asked in the same case before a central pairs.
        package var asksForConsentAsCentral = false
        /// When this host pairs although there is no agent to ask the user, unless a client's policy says otherwise.
        package var unattended = UnattendedPairing.whenNeeded
        /// Whether a peer may use the key pair that everybody knows, so that the link can be listened to.
        package var allowsDebugKeys = false
        /// The key pair of this host; `nil` for a fresh one at each pairing, as it should be but for tests.
        package var keyPair: P256KeyPair?
        /// The passkey that is shown, 0 to 999999; `nil` for a fresh one each time, as it should be but for tests.
        package var passkey: UInt32?
        /// The long term key that is given in legacy pairing; `nil` for a fresh one each time.
        package var longTermKey: LongTermKey?

        package init() {}

        /// Whether there is anything to keep out with who may stand in between.
        var canProtect: Bool {
            ioCapability != .noInputNoOutput || outOfBand.remote != nil || outOfBand.local != nil
                || outOfBand.temporaryKey != nil
        }
    }

    /// Who this host says that it is.
    package struct Identity: Equatable, Sendable {
        /// The address that this host keeps: public or random static.
        package var address: DeviceAddress
        /// What its private addresses are made with; `nil` if it does not say who it is.
        package var resolvingKey: Key128?
        /// What it signs with; `nil` if it gives no such key.
        package var signingKey: Key128?

        package init(address: DeviceAddress, resolvingKey: Key128? = nil, signingKey: Key128? = nil) {
            self.address = address
            self.resolvingKey = resolvingKey
            self.signingKey = signingKey
        }
    }

    /// What the two devices have told each other by other means than Bluetooth.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.5.4 and 2.3.5.6.4.
    package struct OutOfBandData: Sendable {
        /// What one device tells the other for LE Secure Connections.
        package struct Told: Equatable, Sendable {
            /// What commits the device to its public key: `f4` of its X coordinate, twice, and the number.
            package var confirm: Key128
            package var random: Key128

            package init(confirm: Key128, random: Key128) {
                self.confirm = confirm
                self.random = random
            }

            /// What a device tells that has this pair of keys, and uses it for one pairing.
            package init(for pair: P256KeyPair, random: Key128) {
                let x = pair.publicKey.x
                self.init(confirm: Toolbox.f4(x, x, random, 0), random: random)
            }
        }

        /// What the peer told.
        package var remote: Told?
        /// What this host told, and the key pair that it told of; `nil` if it told nothing.
        package var local: (told: Told, pair: P256KeyPair)?
        /// The temporary key of legacy pairing.
        package var temporaryKey: Key128?

        package init(
            remote: Told? = nil,
            local: (told: Told, pair: P256KeyPair)? = nil,
            temporaryKey: Key128? = nil
        ) {
            self.remote = remote
            self.local = local
            self.temporaryKey = temporaryKey
        }
    }
}
