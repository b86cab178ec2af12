/// The security of a link.
///
/// Core 6.0, Vol 3, Part C, 10.2.1.
package enum LinkSecurity: Int, Comparable, Sendable {
    case unencrypted
    /// Encrypted with an unauthenticated key.
    case encrypted
    /// Encrypted with an authenticated key.
    case authenticated

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
