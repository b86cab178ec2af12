package import BLEHost
package import BLEWire

/// The protocol versions that a program supports.
///
/// A newer version adds cases, and fields at the end of messages, which older programs skip. Incompatible changes get a
/// version range that does not overlap.
package struct Versions: Packet {
    /// The versions of this package.
    package static let own = Self(oldest: 1, newest: 2)
    /// The versions that an app needs: since 2, results contain the numbers of requests to peers.
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

    /// Returns the newest common version; `nil` if there is none.
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

/// The first message of an app, with the session that it requests.
package struct Hello: Packet {
    package var versions = Versions.needed
    package var role = ClientRole.central
    /// The restore identifier of the session; `nil` if it ends with the app.
    package var restoreIdentifier: String?
    /// True if the app had this session before the connection was lost, so that it knows its state.
    package var isContinued = false
    /// The name of the radio, as in the daemon's arguments; empty for the first one.
    package var radio = ""
    /// The app's description of itself; `nil` if there is none, as from older apps.
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

/// The daemon's answer to an app that gets a session.
package struct Welcome: Packet {
    /// The protocol version to use.
    package var version: UInt16
    /// The maximum number of untaken requests.
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

/// The reason of a refused session or request, for programs and for people.
package struct Refusal: Packet {
    /// The kind of reason.
    ///
    /// Unknown ones are from a newer version.
    package struct Reason: WireField, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        /// The received data are not a valid message.
        package static let malformed = Self(wire: 1)
        /// There is no common version.
        package static let version = Self(wire: 2)
        /// The daemon does not know the request.
        package static let unknown = Self(wire: 3)
        /// The app is not allowed to do that.
        package static let notAllowed = Self(wire: 4)
        /// There are too many sessions, of this user or in all.
        package static let tooMany = Self(wire: 5)
        /// The app reads too little or sends too much.
        package static let congested = Self(wire: 6)
        /// The radio does not exist.
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
