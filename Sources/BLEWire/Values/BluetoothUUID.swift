/// A UUID, which identifies the type of a service, characteristic or descriptor.
///
/// A UUID has a short form of 16 or 32 bits or a long form of 128 bits. It keeps the form in which it was created,
/// because that form is sent over the air. Two forms of the same UUID are equal: 180D is equal to
/// 0000180D-0000-1000-8000-00805F9B34FB.
///
/// Core 6.0, Vol 3, Part B, 2.5.1.
package enum BluetoothUUID: Sendable {
    case short(UInt16)
    case medium(UInt32)
    case long(Halves)

    /// All 128 bits of a UUID, in two integers.
    ///
    /// Swift 6.3 misaligns an enum that has a `UInt128` among its payloads when unoptimized code passes it by value.
    /// Two 64-bit integers avoid that.
    package struct Halves: Hashable, Sendable {
        fileprivate let high: UInt64
        fileprivate let low: UInt64

        fileprivate init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }

        fileprivate init(_ value: UInt128) {
            self.init(high: UInt64(truncatingIfNeeded: value >> 64), low: UInt64(truncatingIfNeeded: value))
        }

        fileprivate var value: UInt128 { UInt128(high) << 64 | UInt128(low) }
    }

    /// Creates a UUID in its long form from all 128 bits.
    package static func full(_ value: UInt128) -> Self { .long(Halves(value)) }

    /// The Bluetooth Base UUID, from which a short form differs only in the first 32 bits.
    package static let base: UInt128 = 0x0000_0000_0000_1000_8000_0080_5F9B_34FB

    /// All 128 bits of the UUID.
    @inline(__always)
    package var expanded: UInt128 {
        switch self {
        case .short(let value): Self.base | UInt128(value) << 96
        case .medium(let value): Self.base | UInt128(value) << 96
        case .long(let halves): halves.value
        }
    }

    /// The same UUID in the shortest form that ATT and GATT allow, which is 16 or 128 bits long.
    package var attributeForm: Self {
        if case .short = self { return self }
        let value = expanded
        return isShort ? .short(UInt16(truncatingIfNeeded: value >> 96)) : .full(value)
    }

    /// True if 16 bits are enough to represent the UUID.
    fileprivate var isShort: Bool {
        if case .short = self { return true }
        return expanded & ~(UInt128(0xFFFF) << 96) == Self.base
    }

    /// The 2, 4 or 16 octets of the UUID, depending on its form, as they are sent: least significant first.
    package var octets: [UInt8] {
        switch self {
        case .short(let value): value.littleEndianOctets
        case .medium(let value): value.littleEndianOctets
        case .long(let halves): halves.value.littleEndianOctets
        }
    }

    /// Creates a UUID from 2, 4 or 16 octets, least significant first; returns `nil` for any other count.
    package init?(octets: ArraySlice<UInt8>) {
        func number(_ range: Range<Int>) -> UInt64 {
            var number: UInt64 = 0
            for index in range.reversed() { number = number << 8 | UInt64(octets[index]) }
            return number
        }
        let start = octets.startIndex, middle = start + 8
        switch octets.count {
        case 2: self = .short(UInt16(truncatingIfNeeded: number(start..<octets.endIndex)))
        case 4: self = .medium(UInt32(truncatingIfNeeded: number(start..<octets.endIndex)))
        case 16: self = .long(Halves(high: number(middle..<octets.endIndex), low: number(start..<middle)))
        default: return nil
        }
    }
}

extension BluetoothUUID: Hashable, Comparable {
    @inline(__always)
    package static func == (a: Self, b: Self) -> Bool {
        if case .short(let x) = a, case .short(let y) = b { return x == y }
        return a.expanded == b.expanded
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(expanded) }
    package static func < (a: Self, b: Self) -> Bool { a.expanded < b.expanded }
}

extension BluetoothUUID: CustomStringConvertible {
    /// Parses 4 or 8 hex digits or the form with hyphens; returns `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        let digits = groups.joined()
        guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || Self.letters ~= $0 | 0x20 }),
            let value = UInt128(digits, radix: 16)
        else { return nil }
        switch groups.map(\.count) {
        case [4]: self = .short(UInt16(truncatingIfNeeded: value))
        case [8]: self = .medium(UInt32(truncatingIfNeeded: value))
        case [8, 4, 4, 4, 12]: self = .full(value)
        default: return nil
        }
    }

    private static let letters = UInt8(ascii: "a")...UInt8(ascii: "f")

    /// The UUID as Core Bluetooth writes it: 4, 8 or 36 characters, in uppercase.
    package var description: String {
        func digits(_ value: some BinaryInteger, _ count: Int) -> String {
            let text = String(value, radix: 16, uppercase: true)
            return String(repeating: "0", count: count - text.utf8.count) + text
        }
        switch self {
        case .short(let value): return digits(value, 4)
        case .medium(let value): return digits(value, 8)
        case .long(let halves):
            let text = Array(digits(halves.value, 32))
            let groups = [text[0..<8], text[8..<12], text[12..<16], text[16..<20], text[20...]]
            return groups.map { String($0) }.joined(separator: "-")
        }
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// The octets of this integer, least significant first.
    ///
    /// The property is inlined, because shifting an integer of unknown width takes hundreds of instructions per octet.
    @inlinable @inline(__always)
    package var littleEndianOctets: [UInt8] {
        var octets: [UInt8] = [], rest = self
        octets.reserveCapacity(Self.bitWidth / 8)
        for _ in 0..<(Self.bitWidth / 8) {
            octets.append(UInt8(truncatingIfNeeded: rest))
            // The masking shift leaves an integer of one octet unchanged, but then there are no more octets to append.
            rest &>>= 8
        }
        return octets
    }
}

extension Wire where Self: ~Copyable & ~Escapable {
    /// Visits a UUID of 2 or 16 octets that fills the rest of the packet.
    @_lifetime(self: copy self)
    package mutating func uuid(_ value: inout BluetoothUUID, _ name: StaticString) throws(PacketError) {
        let count = try size(value.isShort ? 2 : 16, among: [2, 16], name)
        try uuid(&value, octets: count, name)
    }

    /// Visits a UUID of `octets` octets: 2, 4 or 16.
    @_lifetime(self: copy self)
    package mutating func uuid(
        _ value: inout BluetoothUUID,
        octets count: Int,
        _ name: StaticString
    ) throws(PacketError) {
        switch count {
        case 2:
            var raw = UInt16(truncatingIfNeeded: value.expanded >> 96)
            try integer(&raw, name)
            value = .short(raw)
        case 4:
            var raw = UInt32(truncatingIfNeeded: value.expanded >> 96)
            try integer(&raw, name)
            value = .medium(raw)
        case 16:
            var raw = value.expanded
            try integer(&raw, name)
            value = .full(raw)
        default: throw .reserved(field: name)
        }
    }
}
