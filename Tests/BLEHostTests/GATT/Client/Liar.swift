import BLEHost
import BLEWire

/// A server that answers whatever it is asked with something that looks like an answer.
struct Liar {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// What comes instead of the answer to `request`: packets, of which the last may end the transaction.
    mutating func answers(to request: [UInt8]) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        if random.below(8) == 0 { packets.append(unasked()) }
        packets.append(answer(to: request))
        if random.below(8) == 0 { packets.append(unasked()) }
        return packets
    }

    /// A packet that nobody has asked for.
    private mutating func unasked() -> [UInt8] {
        switch random.below(5) {
        case 0: [0x1B] + handle() + octets(below: 30)
        case 1: [0x1D] + handle() + octets(below: 30)
        case 2: [0x23] + octets(below: 30)
        case 3: [0x1D, 3, 0] + handle() + handle()
        default:
            [[0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x11, 0x13, 0x17, 0x19][Int(random.below(10))]] + octets(below: 30)
        }
    }

    private mutating func answer(to request: [UInt8]) -> [UInt8] {
        let near = request.count >= 3 ? Int64(request[1]) | Int64(request[2]) << 8 : 0
        switch random.below(10) {
        case 0: return [0x01, request[0]] + handle() + [UInt8(random.below(0x14))]
        case 1: return [0x01, request[0]] + handle() + [0x0A]
        default: break
        }
        switch request[0] {
        case 0x04: return random.below(4) == 0 ? [0x05, 2] + list(near, 16, 3) : [0x05, 1] + list(near, 2, 6)
        case 0x06: return [0x07] + groups(near, 0, 6)
        case 0x08:
            let length = [4, 5, 6, 7, 8, 21, UInt8(random.below(30))][Int(random.below(7))]
            return [0x09, length] + list(near, Int(max(length, 2)) - 2, 4)
        case 0x10:
            let length = random.below(3) == 0 ? 16 : 2
            return [0x11, UInt8(4 + length)] + groups(near, length, 4)
        case 0x0A: return [0x0B] + octets(below: 60)
        case 0x0C: return [0x0D] + octets(below: 60)
        case 0x12: return random.below(4) == 0 ? [0x17] + octets(below: 9) : [0x13]
        case 0x16: return random.below(2) == 0 ? [0x17] + request.dropFirst() : [0x17] + octets(below: 30)
        case 0x18: return [0x19]
        default: return [request[0] + 1] + octets(below: 30)
        }
    }

    /// Handles and something behind each of them, mostly in order from `near` on.
    private mutating func list(_ near: Int64, _ length: Int, _ most: Int64) -> [UInt8] {
        var octets: [UInt8] = [], last = near
        for _ in 0...random.below(most) {
            octets += wire(last)
            // Of declarations of characteristics, the value is mostly the next.
            var rest = (0..<length).map { _ in UInt8(random.below(256)) }
            if length == 5 || length == 19, random.below(8) != 0 { rest.replaceSubrange(1..<3, with: wire(last + 1)) }
            if length == 2 { rest = [UInt8(random.below(10)), random.below(2) == 0 ? 0x28 : 0x29] }
            octets += rest
            last += random.below(10) == 0 ? -2 : 1 + random.below(4)
        }
        return octets
    }

    /// Groups, mostly one behind the other from `near` on.
    private mutating func groups(_ near: Int64, _ length: Int, _ most: Int64) -> [UInt8] {
        var octets: [UInt8] = [], last = near
        for _ in 0...random.below(most) {
            let end = last + random.below(12) - (random.below(12) == 0 ? 10 : 0)
            octets += wire(last) + wire(random.below(40) == 0 ? 0xFFFF : end)
            octets += (0..<length).map { _ in UInt8(random.below(256)) }
            last = end + (random.below(10) == 0 ? -1 : 1)
        }
        return octets
    }

    private func wire(_ number: Int64) -> [UInt8] { UInt16(truncatingIfNeeded: number).littleEndianOctets }
    private mutating func handle() -> [UInt8] { wire(random.below(20) == 0 ? random.below(65_536) : random.below(40)) }

    private mutating func octets(below limit: Int64) -> [UInt8] {
        (0..<random.below(limit)).map { _ in UInt8(random.below(256)) }
    }
}
