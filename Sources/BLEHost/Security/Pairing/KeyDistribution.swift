import BLEWire

/// The distribution of keys after the link is encrypted: first the peripheral's, then the central's.
///
/// Core 6.0, Vol 3, Part H, 2.4.3 and 3.6.1.
struct KeyDistribution: Sendable {
    /// The keys of one device.
    struct Keys: Equatable, Sendable {
        var longTermKey: LongTermKey?
        var resolvingKey: Key128?
        var identity: DeviceAddress?
        var signingKey: Key128?
    }

    private enum State: Sendable {
        /// The peer has yet to send these packets, in this order. `unnamed` is an LTK that the peer has sent but not
        /// yet identified.
        case receiving([SMP.Opcode], unnamed: Key128?)
        case over
    }

    enum OnReceive: Equatable {
        case wait
        /// All keys have arrived. Send these packets; the distribution is then complete.
        case finished([SMPPacket])
        case fail(SMP.Reason)
    }

    private let role: LinkRole
    private let identity: DeviceAddress
    /// The keys that this host distributes.
    let own: Keys
    /// The keys that the peer has sent so far.
    private(set) var peer = Keys()
    private var state = State.over

    /// Creates the distribution of keys on one link.
    ///
    /// - Parameters:
    ///   - role: The role of this host on the link.
    ///   - identity: The identity address of this host, even if this host does not send it.
    ///   - own: The keys that this host sends.
    ///   - due: The keys that the peer sends.
    init(_ role: LinkRole, identity: DeviceAddress, own: Keys, due: SMP.KeyDistribution) {
        self.role = role
        self.identity = identity
        self.own = own
        state = .receiving(Self.opcodes(due), unnamed: nil)
    }

    /// Starts the distribution; returns the packets to send now, and whether the distribution is complete.
    mutating func begin() -> (packets: [SMPPacket], isOver: Bool) {
        guard case .receiving(let opcodes, _) = state else { return ([], true) }
        if opcodes.isEmpty { state = .over }
        return (role == .peripheral || opcodes.isEmpty ? packets : [], opcodes.isEmpty)
    }

    /// Processes a packet from the peer.
    mutating func receive(_ packet: SMPPacket) -> OnReceive {
        guard case .receiving(let opcodes, let unnamed) = state, opcodes.first == packet.opcode else {
            return fail(.unspecified)
        }
        var key: Key128?
        switch packet {
        case .encryptionInformation(let information):
            // A link must not be encrypted with a key of zeros, which is no secret.
            guard information.key != .zero else { return fail(.keyRejected) }
            key = information.key
        case .centralIdentification(let name):
            guard let unnamed else { return fail(.unspecified) }
            peer.longTermKey = LongTermKey(key: unnamed, random: name.random, diversifier: name.diversifier)
        case .identityInformation(let information): peer.resolvingKey = information.key
        case .identityAddressInformation(let information):
            // No other device has the identity address of this host.
            guard information.address.isIdentity, information.address != identity.onAir else {
                return fail(.invalidParameters)
            }
            peer.identity = information.address
        case .signingInformation(let information): peer.signingKey = information.key
        default: return fail(.unspecified)
        }
        guard opcodes.count == 1 else {
            state = .receiving(Array(opcodes.dropFirst()), unnamed: key)
            return .wait
        }
        state = .over
        return .finished(role == .central ? packets : [])
    }

    private mutating func fail(_ reason: SMP.Reason) -> OnReceive {
        state = .over
        return .fail(reason)
    }

    /// The packets that this host sends.
    private var packets: [SMPPacket] {
        var packets: [SMPPacket] = []
        if let key = own.longTermKey {
            packets.append(.encryptionInformation(.init(key.key)))
            packets.append(.centralIdentification(.init(diversifier: key.diversifier, random: key.random)))
        }
        if let key = own.resolvingKey, let identity = own.identity {
            packets.append(.identityInformation(.init(key)))
            packets.append(.identityAddressInformation(.init(identity)))
        }
        if let key = own.signingKey { packets.append(.signingInformation(.init(key))) }
        return packets
    }

    private static func opcodes(_ keys: SMP.KeyDistribution) -> [SMP.Opcode] {
        var opcodes: [SMP.Opcode] = []
        if keys.contains(.encryption) { opcodes += [.encryptionInformation, .centralIdentification] }
        if keys.contains(.identity) { opcodes += [.identityInformation, .identityAddressInformation] }
        if keys.contains(.signing) { opcodes.append(.signingInformation) }
        return opcodes
    }
}
