/// The algorithm that chooses the data channel of each connection event.
///
/// Core 6.0, Vol 6, Part B, 4.5.8.
enum ChannelSelection {
    case algorithm1(hop: UInt8)
    case algorithm2

    /// Returns the channel of a connection event.
    ///
    /// - Parameters:
    ///   - counter: The number of the event.
    ///   - accessAddress: The access address of the connection.
    ///   - map: The channels in use; see ``ChannelMap``.
    /// - Returns: The number of the channel, 0 to 36.
    func channel(counter: UInt16, accessAddress: UInt32, map: UInt64) -> UInt8 {
        let map = map & ChannelMap.all
        let count = map.nonzeroBitCount
        guard count > 0 else { return 0 }
        switch self {
        case .algorithm1(let hop):
            let unmapped = UInt8((Int(hop) * (Int(counter) + 1)) % 37)
            return map >> UInt64(unmapped) & 1 != 0 ? unmapped : Self.used(Int(unmapped) % count, of: map)
        case .algorithm2:
            let identifier = UInt16(truncatingIfNeeded: accessAddress ^ (accessAddress >> 16))
            let number = Self.pseudorandom(counter: counter, identifier: identifier)
            let unmapped = UInt8(number % 37)
            if map >> UInt64(unmapped) & 1 != 0 { return unmapped }
            return Self.used(count * Int(number) / 65_536, of: map)
        }
    }

    /// Returns the pseudo-random number that algorithm #2 uses to choose the channel of an event.
    ///
    /// `counter` is the number of the event, and `identifier` the channel identifier: the two halves of the access
    /// address, combined by exclusive or.
    ///
    /// Core 6.0, Vol 6, Part B, 4.5.8.3.2.
    static func pseudorandom(counter: UInt16, identifier: UInt16) -> UInt16 {
        var value = counter ^ identifier
        for _ in 0..<3 { value = permute(value) &* 17 &+ identifier }
        return value ^ identifier
    }

    /// Returns `value` with the bits of each octet reversed.
    private static func permute(_ value: UInt16) -> UInt16 {
        var result: UInt16 = 0
        for bit in 0..<UInt16(8) {
            result |= (value >> bit & 1) << (7 - bit) | (value >> (8 + bit) & 1) << (15 - bit)
        }
        return result
    }

    /// Returns the channel at position `index` in the ascending list of the channels in `map`.
    private static func used(_ index: Int, of map: UInt64) -> UInt8 {
        var rest = map
        for _ in 0..<index { rest &= rest &- 1 }
        return UInt8(rest.trailingZeroBitCount)
    }
}

/// Sets of data channels as integers, one bit per channel.
enum ChannelMap {
    static let all: UInt64 = 0x1F_FFFF_FFFF
}
