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
