/// Reads numbers out of octets of a file, which may be fewer than it says.
struct OctetCursor {
    private var rest: ArraySlice<UInt8>
    private let isBigEndian: Bool

    init(_ octets: ArraySlice<UInt8>, isBigEndian: Bool) {
        rest = octets
        self.isBigEndian = isBigEndian
    }

    /// How many octets have not been read.
    var count: Int { rest.count }

    /// The next number of so many octets, 8 at most; `nil` if there are not so many.
    mutating func number(_ octets: Int) -> UInt64? {
        guard let taken = bytes(octets) else { return nil }
        return isBigEndian
            ? taken.reduce(0) { $0 << 8 | UInt64($1) } : taken.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The next number of four octets.
    mutating func word() -> UInt32? { number(4).map { UInt32(truncatingIfNeeded: $0) } }

    /// The next octets; `nil` if there are not so many.
    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
