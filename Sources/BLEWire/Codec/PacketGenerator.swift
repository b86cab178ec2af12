/// A generator of valid packets with random fields, for property tests.
package struct PacketGenerator<Random: RandomNumberGenerator>: Wire {
    package private(set) var random: Random
    private let payloadLimit: Int

    /// Creates a generator that takes its random numbers from `random`.
    ///
    /// Fields and lists of unlimited length get at most `payloadLimit` octets or elements.
    package init(random: Random, payloadLimit: Int = 32) {
        self.random = random
        self.payloadLimit = payloadLimit
    }

    private mutating func octets(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in .random(in: .min ... .max, using: &random) }
    }

    package mutating func integer<T: WireInteger>(
        _ value: inout T,
        _ name: StaticString
    ) throws(PacketError) {
        value = T.random(in: .min ... .max, using: &random)
    }

    package mutating func narrow(_ value: inout UInt64, octets: Int, _ name: StaticString) throws(PacketError) {
        value = UInt64.random(in: .min ... .max, using: &random) >> UInt64(64 - 8 * octets)
    }

    package mutating func field<F: WireField>(_ value: inout F, _ name: StaticString) throws(PacketError) {
        for _ in 0..<4096 {
            guard let drawn = F(wire: .random(in: .min ... .max, using: &random)) else { continue }
            value = drawn
            return
        }
    }

    package mutating func code(
        _ value: inout UInt8,
        isKnown: (UInt8) -> Bool,
        _ name: StaticString
    ) throws(PacketError) {
        for _ in 0..<4096 {
            value = .random(in: .min ... .max, using: &random)
            if isKnown(value) { return }
        }
    }

    package mutating func bytes(_ value: inout [UInt8], count: Int, _ name: StaticString) throws(PacketError) {
        value = octets(count)
    }

    package mutating func sized(_ value: inout [UInt8], _ name: StaticString) throws(PacketError) {
        try rest(&value, name)
    }

    package mutating func rest(_ value: inout [UInt8], _ name: StaticString) throws(PacketError) {
        value = octets(.random(in: 0...payloadLimit, using: &random))
    }

    package mutating func size(
        _ current: Int,
        among choices: [Int],
        _ name: StaticString
    ) throws(PacketError) -> Int { choices.randomElement(using: &random) ?? current }

    package mutating func extent(
        _ current: Int,
        before trailing: Int,
        limit: Int?,
        _ name: StaticString
    ) throws(PacketError) -> Int { limit ?? .random(in: 0...payloadLimit, using: &random) }

    package mutating func hasElement(at index: Int, of count: Int) -> Bool {
        index < payloadLimit && Int.random(in: 0..<4, using: &random) > 0
    }

    /// Returns a random packet of the given type.
    ///
    /// If a field gets a value that the specification reserves, the whole packet is generated again.
    package mutating func next<P: Packet>(_: P.Type = P.self) -> P {
        while true {
            var packet = P()
            if (try? packet.layout(&self)) != nil { return packet }
        }
    }
}
