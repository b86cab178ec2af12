/// A peer as apps name it: the same value for the same device on every run of this host.
///
/// Derived from the device's identity address and a secret of the host, so that it tells nobody the address.
package struct PeerIdentifier: Hashable, Comparable, Sendable {
    package let rawValue: UInt128
    package init(rawValue: UInt128) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// One session of an app with the host: a central manager or a peripheral manager.
package struct ClientID: Hashable, Comparable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// One request of a client to a peer, as the client numbers them, so that it knows what an answer answers.
package struct RequestNumber: Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// What the peer says by itself, and what answers those who do not number their requests.
    package static let none = Self(rawValue: 0)

    /// The number of the next request; never ``none``.
    package var next: Self { Self(rawValue: rawValue == .max ? 1 : rawValue + 1) }
}

/// Which client asked for something, and in which of its requests.
package struct Requester: Equatable, Sendable {
    package let client: ClientID
    package let number: RequestNumber

    package init(_ client: ClientID, _ number: RequestNumber = .none) {
        self.client = client
        self.number = number
    }
}

/// What a client uses the host for.
package enum ClientRole: Equatable, Sendable {
    case central, peripheral
    /// Looks after pairing and bonds.
    case agent
    /// Tests this host: hears of all that the radio does.
    case tester
}

/// A service, characteristic or descriptor of the local database, as the client that adds it names it.
///
/// The client chooses the number, unique among its own; the host gives handles.
package struct LocalAttributeID: Hashable, Comparable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// One read or one atomic group of writes that a client of the local database must answer exactly once.
package struct ServerTransaction: Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
