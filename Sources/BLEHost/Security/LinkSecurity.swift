/// How far a link can be trusted.
///
/// Core 6.0, Vol 3, Part C, 10.2.1.
package enum LinkSecurity: Int, Comparable, Sendable {
    case unencrypted
    /// Encrypted, with a key of which nobody knows who has it.
    case encrypted
    /// Encrypted, with a key that was authenticated.
    case authenticated

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
