/// The identifier by which apps know a peer.
///
/// On this host, a device keeps its identifier as long as it keeps its address. A bonded device keeps its identifier
/// even when its private address changes.
///
/// The identifier is derived from the first address at which the host received the device, and from a secret of the
/// host. It does not reveal the address.
package struct PeerIdentifier: Hashable, Comparable, Sendable {
    package let rawValue: UInt128
    package init(rawValue: UInt128) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The identifier of a session: a central manager, a peripheral manager or another client of the host.
package struct ClientID: Hashable, Comparable, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The number that identifies a client's request to a peer.
///
/// The client chooses the number, and the result of the request has the same number.
package struct RequestNumber: Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The value for events that are not results, and for requests that a client does not number.
    package static let none = Self(rawValue: 0)

    /// The number of the next request; never ``none``.
    package var next: Self { Self(rawValue: rawValue == .max ? 1 : rawValue + 1) }
}

/// A client and the number of its request.
package struct Requester: Equatable, Sendable {
    package let client: ClientID
    package let number: RequestNumber

    package init(_ client: ClientID, _ number: RequestNumber = .none) {
        self.client = client
        self.number = number
    }
}

/// The role of a client.
package enum ClientRole: Equatable, Sendable {
    case central, peripheral
    /// Answers pairing questions and manages bonds.
    case agent
    /// Tests this host, and receives events about the radio itself.
    case tester
}

/// A client's identifier for a local service, characteristic or descriptor.
///
/// The client chooses the identifier, which must be unique within the client; the host assigns handles.
package struct LocalAttributeID: Hashable, Comparable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// The identifier of a read or of an atomic group of writes.
///
/// The owner of the attributes must answer each read and each group exactly once.
package struct ServerTransaction: Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
