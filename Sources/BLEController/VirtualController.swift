import BLECrypto
import BLEWire

/// One board: what its host has set, and what it is doing.
///
/// It holds no link: those belong to the ``Air``, since they have two ends.
struct VirtualController: Sendable {
    /// A connection that this controller takes part in.
    struct Connection: Sendable {
        let handle: ConnectionHandle
        /// The place of the connection among those of the air.
        let link: Int
        let role: Role
        /// The address that the host gave this end, if it did; on the air a private one may have taken its place.
        let own: DeviceAddress?
        /// The address of the other end, or what it was resolved to.
        let peer: DeviceAddress
    }

    /// Which of two sets of commands the host has begun to use; the other is refused until a reset.
    ///
    /// Core 6.0, Vol 4, Part E, 3.1.1.
    enum Generation: Sendable { case undecided, legacy, extended }

    /// How many connections there may be at once.
    static let maximumConnections = 32
    /// How many advertising sets there may be.
    static let maximumSets = 16
    /// How many octets an extended advertisement may carry.
    static let maximumAdvertisingData = 1_650
    /// How many ACL packets of the host the controller has room for.
    static let aclCount = 16
    /// What the transmitter can do, in dBm.
    static let powers = -20...10
    /// The company that says that it made this controller: none.
    static let company: UInt16 = 0xFFFF
    static let subversion: UInt16 = 0x0001

    var identity: ControllerIdentity
    var isPresent = true
    var faults = ControllerFaults()
    let commands: SupportedCommands
    var masks = EventMasks()
    var generation = Generation.undecided
    var randomAddress: DeviceAddress?
    var sets: [AdvertisingSet] = []
    var scanner = Scanner()
    var initiator: Initiator?
    var acceptList = AcceptList()
    var resolvingList = ResolvingList()
    /// When the private addresses are replaced, and the schedule's entry for it.
    var rotation: (instant: Instant, token: UInt64)?
    /// What antennas and cables add or take, in tenths of a decibel.
    var compensation: (transmit: Int16, receive: Int16) = (0, 0)
    var connections: [Connection] = []
    var channelMap = ChannelMap.all
    var suggestedLength: (octets: UInt16, time: UInt16) = (27, 328)
    var preferredPHYs: LL.PHYPreference
    /// What the board draws from that only its host and the other end of a link learn; the air has dice of its own.
    var random: SeededGenerator
    /// The keys that the host had made last.
    var keyPair: P256KeyPair?
    private var lastHandle: UInt16 = 0x0EFF

    init(_ identity: ControllerIdentity, random: SeededGenerator) {
        self.identity = identity
        self.random = random
        commands = Self.supportedCommands(identity.profile)
        let phys = Self.supportedPHYs(identity.profile.features)
        preferredPHYs = LL.PHYPreference(transmit: phys, receive: phys)
    }

    /// Forgets everything that the host has said; what the board is, and the faults of a test, stay.
    mutating func reset() {
        var fresh = Self(identity, random: random)
        fresh.faults = faults
        fresh.isPresent = isPresent
        fresh.lastHandle = lastHandle
        self = fresh
    }

    /// The set of PHYs that a controller with `features` has.
    static func supportedPHYs(_ features: LEFeatures) -> UInt8 {
        1 | (features.contains(.phy2M) ? 2 : 0) | (features.contains(.phyCoded) ? 4 : 0)
    }

    /// What link layers tell each other about who made them.
    static func linkVersion(of profile: ControllerIdentity.Profile) -> LL.VersionIndication {
        LL.VersionIndication(version: profile.version, company: company, subversion: subversion)
    }

    /// Whether the controller listens for advertisements, for its host or to connect.
    var isListening: Bool { scanner.isListening || initiator != nil }

    /// How long an ACL packet of the host may be.
    @inline(__always)
    var aclLength: Int { identity.profile.features.contains(.dataPacketLengthExtension) ? 251 : 27 }

    /// Whether two addresses are connected already: between them there is at most one connection.
    ///
    /// Core 6.0, Vol 6, Part B, 4.5.
    func isConnected(_ own: DeviceAddress?, to peer: DeviceAddress) -> Bool {
        connections.contains { $0.own == own && $0.peer == peer }
    }

    /// The place of the advertising set that the host calls `handle`.
    func setIndex(_ handle: UInt8) -> Int? { sets.firstIndex { $0.handle == handle } }

    /// The same, if the latest entry of the schedule for that set is `token`; sets are looked at where they lie.
    func setIndex(_ handle: UInt8, scheduledAs token: UInt64) -> Int? {
        let sets = sets.span
        for index in sets.indices where sets[index].handle == handle {
            return sets[index].token == token ? index : nil
        }
        return nil
    }

    /// Whether and until when a set is on the air; it is looked at where it lies.
    func state(ofSet index: Int) -> AdvertisingSet.State { sets.span[index].state }

    /// The connection that the host calls `handle`.
    @inline(__always)
    func connection(_ handle: ConnectionHandle) -> Connection? { connections.first { $0.handle == handle } }

    /// Adds a connection in the order of handles.
    mutating func add(_ connection: Connection) {
        let index = connections.firstIndex { $0.handle > connection.handle } ?? connections.count
        connections.insert(connection, at: index)
    }

    /// A handle that no connection has; the latest to be free again is the last to be given out.
    mutating func nextHandle() -> ConnectionHandle {
        repeat { lastHandle = lastHandle >= 0x0EFF ? 0 : lastHandle + 1 } while isTaken(lastHandle)
        guard let handle = ConnectionHandle(wire: lastHandle) else { preconditionFailure("a handle is out of range") }
        return handle
    }

    private func isTaken(_ wire: UInt16) -> Bool { connections.contains { $0.handle.wire == wire } }
}
