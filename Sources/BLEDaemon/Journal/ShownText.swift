/// The part of a text from an app that the daemon shows to users.
enum ShownText {
    /// The maximum length, in octets.
    static let mostOctets = 240

    /// Returns a text without its end, if it is too long.
    static func text(_ text: String) -> String { String(decoding: text.utf8.prefix(mostOctets), as: UTF8.self) }

    /// Returns a path without its beginning, if it is too long.
    static func path(_ path: String) -> String { String(decoding: path.utf8.suffix(mostOctets), as: UTF8.self) }
}
