package import BLEHost
package import BLEWire

/// The versions of the messages that a program knows.
///
/// A newer version adds cases and fields at the end of messages; whoever is older passes both over. What cannot be
/// added so gets a version that does not overlap.
package struct Versions: Packet {
    /// What this package speaks.
    package static let own = Self(oldest: 1, newest: 2)
    /// What an app needs of a daemon: since 2, answers have the numbers of requests to peers.
    static let needed = Self(oldest: 2, newest: own.newest)

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

    /// The newest that both know; `nil` if there is none.
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
        case .tester: preconditionFailure("those who test a host are in its process")
        }
    }
}

extension ClientRole {
    /// The role as policies and people write it.
    package var name: String {
        switch self {
        case .central: "central"
        case .peripheral: "peripheral"
        case .agent: "agent"
        case .tester: "tester"
        }
    }
}

/// What an app says first: who it wants to be.
package struct Hello: Packet {
    package var versions = Versions.needed
    package var role = ClientRole.central
    /// The name by which a session goes on across launches of the app; `nil` if it ends with the app.
    package var restoreIdentifier: String?
    /// Whether the app has had this session since before the connection was lost, so that it knows where it was.
    package var isContinued = false
    /// Which of several radios, as the daemon was told to open it; empty for the first.
    package var radio = ""
    /// What the app says of itself; `nil` if nothing, as older ones do.
    package var description: AppDescription?

    package init() {}

    package init(
        _ role: ClientRole,
        restoring identifier: String? = nil,
        isContinued: Bool = false,
        radio: String = "",
        describing description: AppDescription? = nil
    ) {
        self.role = role
        self.restoreIdentifier = identifier
        self.isContinued = isContinued
        self.radio = radio
        self.description = description
    }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try versions.layout(&wire)
        try wire.field(&role, "Role")
        try wire.text(&restoreIdentifier, "Restore Identifier")
        try wire.flag(&isContinued, "Continued")
        try wire.text(&radio, "Radio")
        try wire.tail(&description)
    }
}

/// What the daemon answers to an app that may have a session.
package struct Welcome: Packet {
    /// The version in which both go on.
    package var version: UInt16
    /// How many requests the app may have made that are not taken yet.
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

/// Why an app has no session, or a request comes to nothing, for programs and for people.
package struct Refusal: Packet {
    /// The kinds of reasons; others are of a newer version.
    package struct Reason: WireField, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        /// What came is no message.
        package static let malformed = Self(wire: 1)
        /// There is no version that both know.
        package static let version = Self(wire: 2)
        /// The daemon does not know the request.
        package static let unknown = Self(wire: 3)
        /// The app may not do that.
        package static let notAllowed = Self(wire: 4)
        /// There are too many sessions, of this user or of all.
        package static let tooMany = Self(wire: 5)
        /// The app reads too little of what it is told, or says too much at once.
        package static let congested = Self(wire: 6)
        /// There is no such radio.
        package static let noRadio = Self(wire: 7)
        /// The user or the administrator has ended it.
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
