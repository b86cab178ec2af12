import BLECrypto
import BLEWire

/// One virtual controller: the settings that its host has made, and its current activities.
///
/// It carries out the commands from its host: advertising, scanning, connecting, and filtering and resolving addresses.
///
/// It sends no packets and has no clock of its own. The ``Air`` passes the host's commands to it, sends and delivers
/// all packets, and owns the links, because each link belongs to two controllers.
struct VirtualController: Sendable {
    /// A connection of this controller.
    struct Connection: Sendable {
        let handle: ConnectionHandle
        /// The index of the connection in ``Air/links``.
        let link: Int
        let role: Role
        /// The public or random address that the host chose for this end; `nil` if the host chose the random address
        /// but has not set it.
        ///
        /// The packets may have carried a private address instead.
        let own: DeviceAddress?
        /// The peer's identity address if its address was resolved, otherwise the peer's over-the-air address.
        let peer: DeviceAddress
    }

    /// The generation of advertising and scanning commands that the host uses: legacy or extended.
    ///
    /// The first advertising or scanning command decides the generation. Commands of the other generation are then
    /// rejected until the host resets the controller.
    ///
    /// Core 6.0, Vol 4, Part E, 3.1.1.
    enum Generation: Sendable { case undecided, legacy, extended }

    /// The maximum number of advertising sets.
    static let maximumSets = 16
    /// The maximum length of extended advertising data, in octets.
    static let maximumAdvertisingData = 1_650
    /// The number of ACL packets from the host that the controller can buffer.
    static let aclCount = 16
    /// The transmit power range, in dBm.
    static let powers = -20...10
    /// The company identifier that the controller reports: the value that stands for no company.
    static let company: UInt16 = 0xFFFF
    static let subversion = ControllerIdentity.standardSubversion

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
    /// The time at which the scan ends, pauses or resumes, and the token of the schedule entry for that; `nil` if none
    /// is scheduled.
    var scanEntry: (instant: Instant, token: UInt64)?
    /// The time at which the controller replaces its private addresses, and the token of the schedule entry for the
    /// replacement; `nil` if none is scheduled.
    var rotation: (instant: Instant, token: UInt64)?
    /// The gain or loss between radio and antenna for sending and for receiving, as set by the host, in tenths of a
    /// decibel.
    var compensation: (transmit: Int16, receive: Int16) = (0, 0)
    var connections: [Connection] = []
    var channelMap = ChannelMap.all
    var suggestedLength: (octets: UInt16, time: UInt16) = (27, 328)
    var preferredPHYs: LL.PHYPreference
    /// The generator of this controller's own random numbers, such as keys and addresses.
    ///
    /// Random events on the air come from ``AirPath/random``.
    var random: SeededGenerator
    /// The P-256 key pair that the controller generated last; `nil` if it has generated none since its last reset.
    var keyPair: P256KeyPair?
    private var lastHandle: UInt16 = 0x0EFF

    init(_ identity: ControllerIdentity, random: SeededGenerator) {
        self.identity = identity
        self.random = random
        commands = Self.supportedCommands(identity.profile)
        let phys = Self.supportedPHYs(identity.profile.features)
        preferredPHYs = LL.PHYPreference(transmit: phys, receive: phys)
    }

    /// Resets the controller to its state after power-on, as for the Reset command.
    ///
    /// Its identity and the faults that a test has set are kept.
    mutating func reset() {
        var fresh = Self(identity, random: random)
        fresh.faults = faults
        fresh.isPresent = isPresent
        fresh.lastHandle = lastHandle
        // The entries are still in the schedule, so that new ones must replace them.
        fresh.scanEntry = scanEntry
        fresh.rotation = rotation
        self = fresh
    }

    /// Returns the PHYs that a controller with `features` supports, as a link layer PHY set.
    static func supportedPHYs(_ features: LEFeatures) -> UInt8 {
        1 | (features.contains(.phy2M) ? 2 : 0) | (features.contains(.phyCoded) ? 4 : 0)
    }

    /// Returns the version information of the link layer.
    static func linkVersion(of profile: ControllerIdentity.Profile) -> LL.VersionIndication {
        LL.VersionIndication(version: profile.version, company: company, subversion: subversion)
    }

    /// True if the controller listens for advertisements, to scan or to connect.
    var isListening: Bool { scanner.isListening || initiator != nil }

    /// The maximum length of an ACL packet from the host, in octets.
    @inline(__always)
    var aclLength: Int { identity.profile.features.contains(.dataPacketLengthExtension) ? 251 : 27 }

    /// Returns whether this controller already has a connection between the two addresses.
    ///
    /// The specification allows only one such connection.
    ///
    /// Core 6.0, Vol 6, Part B, 4.5.
    func isConnected(_ own: DeviceAddress?, to peer: DeviceAddress) -> Bool {
        connections.contains { $0.own == own && $0.peer == peer }
    }

    /// Returns the index of the advertising set that has this handle; `nil` if there is none.
    func setIndex(_ handle: UInt8) -> Int? { sets.firstIndex { $0.handle == handle } }

    /// Returns the index of the advertising set that has this handle, without copying the set.
    ///
    /// Returns `nil` if there is no such set, or if `token` is not the token of its latest schedule entry.
    func setIndex(_ handle: UInt8, scheduledAs token: UInt64) -> Int? {
        let sets = sets.span
        for index in sets.indices where sets[index].handle == handle {
            return sets[index].token == token ? index : nil
        }
        return nil
    }

    /// Returns the state of an advertising set without copying the set.
    func state(ofSet index: Int) -> AdvertisingSet.State { sets.span[index].state }

    /// True if the controller has as many connections as it can have.
    var isFull: Bool { connections.count >= identity.maximumConnections }

    /// Returns the connection that has this handle; `nil` if there is none.
    @inline(__always)
    func connection(_ handle: ConnectionHandle) -> Connection? {
        let index = index(of: handle)
        return index < connections.count && connections[index].handle == handle ? connections[index] : nil
    }

    /// Inserts a connection so that ``connections`` stays sorted by handle.
    mutating func add(_ connection: Connection) { connections.insert(connection, at: index(of: connection.handle)) }

    /// Returns the index of a connection, or the index at which to insert it.
    @inline(__always)
    private func index(of handle: ConnectionHandle) -> Int {
        var (low, high) = (0, connections.count)
        while low < high {
            let middle = (low + high) / 2
            if connections[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns an unused connection handle.
    ///
    /// A handle is reused only after all other unused handles have been used.
    mutating func nextHandle() -> ConnectionHandle {
        repeat { lastHandle = lastHandle >= 0x0EFF ? 0 : lastHandle + 1 } while isTaken(lastHandle)
        guard let handle = ConnectionHandle(wire: lastHandle) else {
            preconditionFailure("a connection handle must be at most 0x0EFF")
        }
        return handle
    }

    private func isTaken(_ wire: UInt16) -> Bool { connections.contains { $0.handle.wire == wire } }
}

/// The faults that a test sets for one controller.
package struct ControllerFaults: Hashable, Sendable {
    /// True if the controller ignores all packets from its host and sends it no events.
    package var isMute = false
    /// The probability, from 0 to 1, that an event is lost on its way to the host.
    package var dropEvents = 0.0
    /// The number of upcoming connection requests to this controller that are lost on the air.
    package var lostConnectIndications = 0

    package init() {}
}
