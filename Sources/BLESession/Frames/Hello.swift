package import BLEHost
package import BLEWire

/// The range of protocol versions that a program supports.
///
/// A newer version may add cases, and may add fields at the end of messages; older programs skip such fields. If a
/// change is incompatible, the new range of versions does not overlap the old one.
package struct Versions: Packet {
    /// The versions that this package supports.
    package static let own = Self(oldest: 1, newest: 5)
    /// The versions that an app accepts.
    ///
    /// Apps need version 2 or later, in which each result contains the number of the request that it answers.
    static let needed = Self(oldest: 2, newest: own.newest)
    /// The versions that a session on behalf of another program needs: an older daemon would give the session the
    /// rights of the program that opens it.
    static let neededOnBehalf = Self(oldest: 3, newest: own.newest)

    /// The first version in which app and daemon inform each other of dropped advertising reports.
    static let withDroppedReports: UInt16 = 4
    /// The first version in which the daemon may acknowledge frequent requests late.
    static let withLateAcknowledgements: UInt16 = 5

    package var oldest: UInt16
    package var newest: UInt16

    package init(oldest: UInt16, newest: UInt16) {
        self.oldest = oldest
        self.newest = newest
    }

    package init() { self.init(oldest: 0, newest: 0) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.integer(&oldest, "Oldest Version")
        try wire.integer(&newest, "Newest Version")
    }

    /// Returns the newest version in both ranges; `nil` if there is none.
    package func common(with other: Self) -> UInt16? {
        let newest = min(newest, other.newest)
        return newest >= max(oldest, other.oldest) ? newest : nil
    }
}

extension ClientRole: WireField {
    package init?(wire: UInt8) {
        switch wire {
        case 1: self = .central
        case 2: self = .peripheral
        case 3: self = .agent
        default: return nil
        }
    }

    package var wire: UInt8 {
        switch self {
        case .central: 1
        case .peripheral: 2
        case .agent: 3
        case .tester: preconditionFailure("test sessions exist only inside the host's process")
        }
    }
}

extension ClientRole {
    /// The name of the role in policies and messages.
    package var name: String {
        switch self {
        case .central: "central"
        case .peripheral: "peripheral"
        case .agent: "agent"
        case .tester: "tester"
        }
    }
}

/// The program for which an administrator's program opens a session.
///
/// The daemon applies the rights and limits of this program. Supported since protocol version 3.
package struct Principal: Equatable, Packet {
    /// The user ID.
    package var user: UInt32
    /// The process ID; 0 if it is not known.
    package var process: UInt32

    package init() { self.init(user: 0, process: 0) }

    package init(user: UInt32, process: UInt32) {
        self.user = user
        self.process = process
    }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.integer(&user, "User")
        try wire.integer(&process, "Process")
    }
}

/// The first message that an app sends: the greeting, which requests a session.
package struct Hello: Packet {
    package var versions = Versions.needed
    package var role = ClientRole.central
    /// The restore identifier of the session; `nil` for a session that ends with its app.
    package var restoreIdentifier: String?
    /// True if the app had this session before it lost the connection, and so still knows the session's state.
    package var isContinued = false
    /// The name of the radio, as in the daemon's arguments; empty for the first one.
    package var radio = ""
    /// The app's description of itself; `nil` if it sends none, as older apps do.
    package var description: AppDescription?
    /// The program that the session is for; `nil` if it is the program that opens the session.
    ///
    /// It is sent only with a description.
    package var principal: Principal?

    package init() {}

    package init(
        _ role: ClientRole,
        restoring identifier: String? = nil,
        isContinued: Bool = false,
        radio: String = "",
        describing description: AppDescription? = nil,
        onBehalfOf principal: Principal? = nil
    ) {
        self.role = role
        self.restoreIdentifier = identifier
        self.isContinued = isContinued
        self.radio = radio
        self.description = description ?? principal.map { _ in AppDescription() }
        self.principal = principal
        if principal != nil { versions = .neededOnBehalf }
    }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try versions.layout(&wire)
        try wire.field(&role, "Role")
        try wire.text(&restoreIdentifier, "Restore Identifier")
        try wire.flag(&isContinued, "Continued")
        try wire.text(&radio, "Radio")
        try wire.tail(&description)
        if description != nil { try wire.tail(&principal) }
    }
}

/// The daemon's answer to a greeting that it accepts.
package struct Welcome: Packet {
    /// The protocol version to use.
    package var version: UInt16
    /// The maximum number of sent requests that the daemon has not acknowledged with ``DaemonMessage/taken(_:)``.
    package var window: UInt32

    package init(version: UInt16, window: UInt32) {
        self.version = version
        self.window = window
    }

    package init() { self.init(version: 0, window: 0) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.integer(&version, "Version")
        try wire.integer(&window, "Window")
    }
}

/// The reason why a session or request is refused: a code for programs, and a sentence for users.
package struct Refusal: Packet {
    /// The kind of reason.
    ///
    /// A newer version may send kinds that this one does not know.
    package struct Reason: WireField, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        /// The received octets are not a valid message.
        package static let malformed = Self(wire: 1)
        /// The app and the daemon have no protocol version in common.
        package static let version = Self(wire: 2)
        /// The daemon does not know the request.
        package static let unknown = Self(wire: 3)
        /// The app is not allowed to do what it has requested.
        package static let notAllowed = Self(wire: 4)
        /// There are too many sessions: in total, of the app's user, or of the app's process.
        package static let tooMany = Self(wire: 5)
        /// The app reads too little or sends too much.
        package static let congested = Self(wire: 6)
        /// The radio does not exist.
        package static let noRadio = Self(wire: 7)
        /// The user or the administrator has ended the session.
        package static let ended = Self(wire: 8)
    }

    package var reason: Reason
    package var sentence: String

    package init(_ reason: Reason, _ sentence: String) {
        self.reason = reason
        self.sentence = sentence
    }

    package init() { self.init(.malformed, "") }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&reason, "Reason")
        try wire.text(&sentence, "Sentence")
    }
}
