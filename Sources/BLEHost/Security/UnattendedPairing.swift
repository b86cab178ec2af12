/// When a host pairs although there is no agent to ask the user.
package enum UnattendedPairing: UInt8, CaseIterable, Comparable, Sendable {
    /// Never: without an agent, pairing takes out-of-band data or an explicit request of a client.
    case never
    /// When an app needs it: the peer refused what an app asked for, an app is connected to the peer, or this host is
    /// the peripheral and an app published something that needs encryption.
    case whenNeeded
    /// Whenever a peer wants to.
    case always

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
