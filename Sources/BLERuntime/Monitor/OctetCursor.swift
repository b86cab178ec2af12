/// A reader of numbers from a file's octets, which checks that there are enough.
struct OctetCursor {
    private var rest: ArraySlice<UInt8>
    private let isBigEndian: Bool

    init(_ octets: ArraySlice<UInt8>, isBigEndian: Bool) {
        rest = octets
        self.isBigEndian = isBigEndian
    }

    /// The number of unread octets.
    var count: Int { rest.count }

    /// Reads a number of up to 8 octets; returns `nil` if fewer are left.
    mutating func number(_ octets: Int) -> UInt64? {
        guard let taken = bytes(octets) else { return nil }
        return isBigEndian
            ? taken.reduce(0) { $0 << 8 | UInt64($1) } : taken.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads a number of four octets; returns `nil` if fewer are left.
    mutating func word() -> UInt32? { number(4).map { UInt32(truncatingIfNeeded: $0) } }

    /// Reads `count` octets; returns `nil` if fewer are left.
    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
