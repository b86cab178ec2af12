package import BLECrypto
package import BLEWire

extension SecurityManager {
    /// The pairing features and requirements of this host.
    package struct Configuration: Sendable {
        /// The generations of pairing that this host supports: LE Secure Connections, legacy pairing, or both.
        package enum SecureConnections: Equatable, Sendable {
            /// LE Secure Connections if the peer supports it, otherwise legacy pairing.
            case preferred
            /// Only LE Secure Connections; peers without it are rejected.
            case required
            /// Only legacy pairing, for tests.
            case off
        }

        /// The need for MITM protection.
        package enum Protection: Int, Comparable, Sendable {
            case none
            /// MITM protection if the capabilities of both devices allow it.
            case preferred
            /// Always MITM protection; a pairing without it fails.
            case required

            package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
        }

        package var ioCapability = SMP.IOCapability.noInputNoOutput
        package var outOfBand = OutOfBandData()
        /// True if this host stores keys.
        package var isBonding = true
        package var protection = Protection.preferred
        package var secureConnections = SecureConnections.preferred
        /// The minimum key size, in octets, 7 to 16.
        package var leastKeySize = 16
        /// The maximum key size that this host offers, in octets, 7 to 16 and at least ``leastKeySize``.
        package var greatestKeySize = 16
        /// The keys that the central distributes, if it has them; ``SMP/KeyDistribution/link`` is never offered.
        package var initiatorKeys: SMP.KeyDistribution = [.encryption, .identity]
        /// The keys that the peripheral distributes, if it has them.
        package var responderKeys: SMP.KeyDistribution = [.encryption, .identity]
        /// True if the user is asked for consent before this host, as the peripheral, pairs with a method that asks
        /// nothing else.
        ///
        /// If the pairing would replace a bond, the user is always asked, in both roles.
        package var asksForConsent = true
        /// True if the user is also asked for consent when this host is the central.
        package var asksForConsentAsCentral = false
        /// The conditions under which this host pairs without an agent, unless a client's policy sets others.
        package var unattended = UnattendedPairing.whenNeeded
        /// True if a peer may use the debug key pair, with which anyone can decrypt the link.
        package var allowsDebugKeys = false
        /// The key pair of this host; `nil` to generate one for each pairing.
        ///
        /// Only tests should set this.
        package var keyPair: P256KeyPair?
        /// The passkey to display, 0 to 999999; `nil` to generate one each time.
        ///
        /// Only tests and simulated devices should set this: a device that always displays the same passkey gives no
        /// protection.
        package var passkey: UInt32?
        /// The LTK for legacy pairing; `nil` to generate one each time.
        package var longTermKey: LongTermKey?

        package init() {}

        /// True if this host's IO capability or out-of-band data allow MITM protection.
        var canProtect: Bool {
            ioCapability != .noInputNoOutput || outOfBand.remote != nil || outOfBand.local != nil
                || outOfBand.temporaryKey != nil
        }
    }

    /// The identity that this host sends to its peers.
    package struct Identity: Equatable, Sendable {
        /// The identity address: public or random static.
        package var address: DeviceAddress
        /// The local IRK; `nil` if it is not distributed.
        package var resolvingKey: Key128?
        /// The local CSRK; `nil` if it is not distributed.
        package var signingKey: Key128?

        package init(address: DeviceAddress, resolvingKey: Key128? = nil, signingKey: Key128? = nil) {
            self.address = address
            self.resolvingKey = resolvingKey
            self.signingKey = signingKey
        }
    }

    /// The out-of-band data of this host and of a peer.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.5.4 and 2.3.5.6.4.
    package struct OutOfBandData: Sendable {
        /// The out-of-band data of one device for LE Secure Connections.
        package struct DeviceData: Equatable, Sendable {
            /// The commitment to the public key, computed with `f4` from the key's X coordinate and the random number.
            package var confirm: Key128
            package var random: Key128

            package init(confirm: Key128, random: Key128) {
                self.confirm = confirm
                self.random = random
            }

            /// Creates the out-of-band data of a device for a single pairing with this key pair.
            package init(for pair: P256KeyPair, random: Key128) {
                let x = pair.publicKey.x
                self.init(confirm: Toolbox.f4(x, x, random, 0), random: random)
            }
        }

        /// The peer's data; `nil` if there are none.
        package var remote: DeviceData?
        /// This host's data and the key pair to which the data belong; `nil` if there are no data.
        package var local: (data: DeviceData, pair: P256KeyPair)?
        /// The temporary key for legacy pairing; `nil` if there is none.
        package var temporaryKey: Key128?

        package init(
            remote: DeviceData? = nil,
            local: (data: DeviceData, pair: P256KeyPair)? = nil,
            temporaryKey: Key128? = nil
        ) {
            self.remote = remote
            self.local = local
            self.temporaryKey = temporaryKey
        }
    }
}

/// The conditions under which a host pairs without an agent to ask the user.
package enum UnattendedPairing: UInt8, CaseIterable, Comparable, Sendable {
    /// Never. Without an agent, a pairing needs out-of-band data or an explicit request from a client.
    case never
    /// If an app needs it: the peer has rejected an app's request because of insufficient security, an app is connected
    /// to the peer, or this host is the peripheral and an app has published something that requires encryption.
    case whenNeeded
    /// Whenever a peer requests it.
    case always

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
