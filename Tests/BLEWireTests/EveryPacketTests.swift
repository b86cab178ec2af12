import BLEWire
import Testing

/// Properties that hold for every packet there is.
///
/// A new packet is tested as soon as it is listed in ``EveryPacket``.
@Suite("Every packet")
struct EveryPacketTests {
    @Test("Every packet decodes to what was encoded", arguments: EveryPacket.all)
    func roundTrip(_ type: any Packet.Type) throws { try roundTrip(of: type) }

    private func roundTrip<P: Packet>(of _: P.Type) throws {
        for packet in generated(P.self, count: 200) {
            #expect(try P(decoding: packet.encoded) == packet)
        }
    }

    @Test(
        "Every packet is refused at any shorter length, or at least does not crash the decoder",
        arguments: EveryPacket.all
    )
    func truncation(_ type: any Packet.Type) { truncation(of: type) }

    private func truncation<P: Packet>(of _: P.Type) {
        for packet in generated(P.self, count: 20) {
            let octets = packet.encoded
            for length in 0..<octets.count {
                let prefix = Array(octets[..<length])
                if isOpenEnded(packet) {
                    _ = try? P(decoding: prefix)
                } else {
                    #expect(throws: PacketError.self) { try P(decoding: prefix) }
                }
            }
        }
    }

    @Test("Every packet is refused with one octet too many, unless it is open-ended", arguments: EveryPacket.all)
    func excess(_ type: any Packet.Type) { excess(of: type) }

    private func excess<P: Packet>(of _: P.Type) {
        for packet in generated(P.self, count: 20) {
            let octets = packet.encoded + [0]
            if isOpenEnded(packet) {
                _ = try? P(decoding: octets)
            } else {
                #expect(throws: PacketError.trailing(count: 1)) { try P(decoding: octets) }
            }
        }
    }

    @Test("Random octets never crash the decoder, and what decodes survives a round trip", arguments: EveryPacket.all)
    func garbage(_ type: any Packet.Type) throws { try garbage(for: type) }

    private func garbage<P: Packet>(for _: P.Type) throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            guard let packet = try? P(decoding: .random(upTo: 64, using: &random)) else { continue }
            #expect(try P(decoding: packet.encoded) == packet)
        }
    }

    @Test("Every packet dissects into fields that cover its octets in order", arguments: EveryPacket.all)
    func dissection(_ type: any Packet.Type) { dissection(of: type) }

    private func dissection<P: Packet>(of _: P.Type) {
        for packet in generated(P.self, count: 20) {
            #expect(packet.dissected.flatMap(\.range) == Array(0..<packet.encoded.count))
        }
    }

    private func generated<P: Packet>(_: P.Type, count: Int) -> [P] {
        var generator = PacketGenerator(random: SeededGenerator(seed: 1))
        return (0..<count).map { _ in generator.next() }
    }

    private func isOpenEnded(_ packet: some Packet) -> Bool {
        var probe = EndProbe(), copy = packet
        #expect(throws: Never.self) { try copy.layout(&probe) }
        return probe.isOpenEnded
    }
}

extension EveryPacket {
    static let all = att + attValues + l2cap + smp + hci + linkLayer + management
}

extension [UInt8] {
    /// At most `limit` random octets.
    static func random(upTo limit: Int, using random: inout SeededGenerator) -> Self {
        (0..<Int.random(in: 0...limit, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}

/// Finds out whether the end of a packet is where its octets end, and not where its fields say.
private struct EndProbe: Wire {
    private(set) var isOpenEnded = false

    func integer<T: WireInteger>(
        _ value: inout T,
        _ name: StaticString
    ) throws(PacketError) {}

    func narrow(_ value: inout UInt64, octets: Int, _ name: StaticString) throws(PacketError) {}

    func bytes(_ value: inout [UInt8], count: Int, _ name: StaticString) throws(PacketError) {}

    mutating func rest(_ value: inout [UInt8], _ name: StaticString) throws(PacketError) { isOpenEnded = true }

    mutating func size(
        _ current: Int,
        among choices: [Int],
        _ name: StaticString
    ) throws(PacketError) -> Int {
        isOpenEnded = true
        return current
    }

    mutating func extent(
        _ current: Int,
        before trailing: Int,
        limit: Int?,
        _ name: StaticString
    ) throws(PacketError) -> Int {
        isOpenEnded = true
        return current
    }

    mutating func hasElement(at index: Int, of count: Int) -> Bool {
        isOpenEnded = true
        return index < count
    }
}
