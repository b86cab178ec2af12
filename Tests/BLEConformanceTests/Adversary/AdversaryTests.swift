import BLEWire
import Testing

@testable import BLEConformance

@Suite("Adversary")
struct AdversaryTests {
    /// Every sequence of two packets, and for each of them two that go on.
    static let adversary = Adversary(depth: 3, sample: 2, seed: 1)

    @Test(
        "Each hostile packet is answered as specified, and does not affect other peers",
        arguments: AttributeVictim.Part.allCases
    )
    func attributes(part: AttributeVictim.Part) {
        let report = Self.adversary.attributes(part)
        #expect(report.complaints == [])
        let count = part.packets.count
        #expect(count >= 60 && report.sequences == count + count * count * 3)
    }

    @Test("Each hostile signal is answered as specified, and does not affect other peers", arguments: [true, false])
    func signals(isCentral: Bool) {
        let report = Adversary(depth: 3, sample: 1, seed: 1).signals(isCentral ? .central : .peripheral)
        #expect(report.complaints == [])
        #expect(report.sequences == 64 + 64 * 64 * 2)
    }

    @Test("A peer that breaks the rules of a channel loses only that channel", arguments: [true, false])
    func channels(isCentral: Bool) {
        let report = Adversary(depth: 3, sample: 1, seed: 1).channels(isCentral ? .central : .peripheral)
        #expect(report.complaints == [])
        #expect(report.sequences == 64 + 64 * 64 * 2)
    }

    @Test(
        "A peer that breaks the rules of a bearer loses only that bearer, and the host reports each event once",
        arguments: BearerScene.allCases
    )
    func bearers(scene: BearerScene) {
        let report = Adversary(depth: 3, sample: 1, seed: 1).bearers(scene)
        #expect(report.complaints == [])
        let count = scene.packets.count
        #expect(count >= 60 && report.sequences == count + count * count * 2)
    }

    @Test("No hostile sequence makes any state grow beyond its limits", arguments: AttributeVictim.Part.allCases)
    func flood(part: AttributeVictim.Part) {
        #expect(Self.adversary.flood(part, rounds: 200).complaints == [])
    }

    @Test("The oracle detects wrong answers")
    func noticed() {
        for (packet, fault) in [
            (HostilePacket("0a 0300", .nothing), "answers packets that need no response"),
            (HostilePacket("0a 0300", .refusal(0x02)), "answers 0a0300 with 0b"),
            (HostilePacket("52 0500 11", .answer), "does not answer 5205"),
            (HostilePacket("1b 0500 11", .confirmation), "confirms 0 times, not 1"),
        ] {
            var victim = AttributeVictim(.server)
            victim.receive(packet)
            #expect(victim.verdict()?.hasPrefix(fault) == true)
        }
        let signal = HostilePacket("77 21 0000", .refusal(2), channel: 5)
        #expect(SignalVictim(.central).complaint(about: [signal])?.hasPrefix("answers 77210000 with 0121") == true)
    }

    @Test("The oracle detects a bearer that does something wrong or fails to do something required")
    func noticedOnBearers() {
        let server = ChannelVictim(.server), client = ChannelVictim(.client)
        server.begin()
        #expect(server.base.record.fault == nil)
        _ = server.oracle.attributes?.closed(ChannelIdentifier(wire: 0x41))
        server.step(.init("0300 0a0300", .anything, channel: 0x41))
        #expect(server.base.record.fault?.hasPrefix("reacts with Reaction") == true)
        client.begin()
        #expect(client.base.record.fault == nil && client.oracle.attributes?.asked == [1, 2, 3, 4, 5])
        client.oracle.attributes?.asked = [2]
        client.step(.init("0b41", .anything))
        #expect(client.base.record.fault?.hasPrefix("reports") == true)
    }

    @Test("Weight counts the elements of all nested collections")
    func weight() {
        struct Holder {
            var octets: [UInt8] = [1, 2, 3], lists = [[1], [2, 3]], map = ["a": [UInt8](repeating: 0, count: 9)]
        }
        #expect(Weight.of(Holder()) == 3 + 2 + 3 + 1 + 9)
    }
}
