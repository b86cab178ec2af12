import BLEWire
import Testing

@testable import BLEHost

/// Ways in which keys of pairing were broken elsewhere, each of which must not work here.
@Suite("Pairing key attacks")
struct PairingKeyRuleTests {
    @Test("SweynTooth: a key size outside 7 to 16 is refused", arguments: [UInt8](0...6) + [17, 18, 127, 253, 255])
    func keySizeOverflow(size: UInt8) {
        for victim in PairingRuleTests.both {
            var pair = SecurityPair(
                central: .test().with { $0.leastKeySize = 7 },
                peripheral: .test().with { $0.leastKeySize = 7 }
            )
            pair.tamper = { role, packet in
                role != victim && packet[0] <= 0x02 ? [packet[..<4] + [size] + packet[5...]] : [packet]
            }
            pair.pair()
            #expect(pair[victim].failures == [.refused(.invalidParameters)])
        }
    }

    @Test("SweynTooth: a peripheral has no link key before pairing has produced one, and never a zero one")
    func noKeyOutOfOrder() {
        for one in PairingTests.methods {
            var pair = SecurityPair(central: one.configuration(.central), peripheral: one.configuration(.peripheral))
            pair.keepsHistory = true
            #expect(pair.peripheral.manager.longTermKey(for: 0, diversifier: 0) == nil)
            pair.pair()
            var keys: [Key128] = []
            for moment in pair.history {
                var manager = moment.after
                let key = manager.longTermKey(for: 0, diversifier: 0)
                if let key { keys.append(key) }
                if moment.role == .central { #expect(key == nil) }
                #expect(manager.longTermKey(for: 1, diversifier: 0) == nil)
                #expect(manager.longTermKey(for: 0, diversifier: 1) == nil)
            }
            #expect(!keys.isEmpty && keys.allSatisfy { $0 == pair.key?.key && $0 != .zero })
            #expect(pair.peripheral.manager.longTermKey(for: 0, diversifier: 0) == nil)
        }
    }

    @Test("Encryption with a key other than the new one does not count")
    func otherKey() {
        var pair = SecurityPair()
        pair.keepsHistory = true
        pair.pair()
        for moment in pair.history where moment.role == .peripheral && moment.event != .encrypted {
            var manager = moment.after
            guard manager.agreedKey != nil, moment.event != .keyRequest else { continue }
            while manager.next() != nil {}
            manager.encryptionChanged(.on, at: Instant())
            if case .packet(let packet) = moment.event, (0x06...0x0A).contains(packet[0]) { continue }
            #expect(manager.next() == nil && manager.agreedKey != nil)
        }
    }

    @Test(
        "A link is as secure as its key, even if pairing fails while it is being encrypted",
        arguments: PairingRuleTests.both
    )
    func strengthOfLink(role: LinkRole) throws {
        var pair = SecurityPair()
        pair.keepsHistory = true
        pair.pair()
        let moment = try #require(pair.history.last { $0.role == role && $0.after.isEncrypting })
        for fails in [false, true] {
            var manager = moment.after
            if fails { manager.receive([0x05, 0x08].span, at: Instant()) }
            #expect(manager.encryptionChanged(.on, at: Instant()) == pair[role].outcome?.strength)
            #expect(manager.encryptionChanged(.on, at: Instant()) == nil)
            manager = moment.after
            #expect(manager.encryptionChanged(.failed, at: Instant()) == nil)
        }
    }

    @Test("SweynTooth: a long-term key of zeros is refused", arguments: PairingRuleTests.both)
    func zeroLongTermKey(victim: LinkRole) {
        var pair = SecurityPair(central: .test(.noInputNoOutput, .off), peripheral: .test(.noInputNoOutput, .off))
        pair.tamper = { role, packet in
            role != victim && packet[0] == 0x06 ? [[0x06] + [UInt8](repeating: 0, count: 16)] : [packet]
        }
        pair.pair()
        #expect(pair[victim].failures == [.refused(.keyRejected)] && pair[victim].outcome == nil)
    }

    @Test("SweynTooth: the DHKey check can be neither skipped nor sent early", arguments: PairingRuleTests.both)
    func skippedCheck(victim: LinkRole) {
        for one in PairingTests.methods where one.isSecure {
            var pair = SecurityPair(central: one.configuration(.central), peripheral: one.configuration(.peripheral))
            pair.tamper = { role, packet in role != victim && packet[0] == 0x0D ? [] : [packet] }
            pair.pair()
            #expect(pair[victim].manager.agreedKey == nil && pair.key == nil)
            if victim == .peripheral {
                #expect(!pair.log.contains { $0.from == .peripheral && $0.octets[0] == 0x0D })
                #expect(pair.peripheral.manager.longTermKey(for: 0, diversifier: 0) == nil)
            }
            pair = SecurityPair(central: one.configuration(.central), peripheral: one.configuration(.peripheral))
            pair.tamper = { role, packet in
                role != victim && packet[0] == 0x0D ? [[0x0D, packet[1] ^ 1] + packet[2...]] : [packet]
            }
            pair.pair()
            PairingRefusalTests.expectRefusal(pair, .dhKeyCheckFailed, by: victim)
        }
    }

    @Test("A peripheral does not answer the DHKey check while its user still compares")
    func earlyCheck() {
        var pair = SecurityPair(central: .test(.displayYesNo), peripheral: .test(.displayYesNo))
        pair.answer = { role, question, other in role == .central ? SecurityPair.honest(role, question, other) : nil }
        pair.pair()
        #expect(pair.log.last?.octets[0] == 0x0D && pair.log.last?.from == .central)
        #expect(pair.peripheral.manager.agreedKey == nil)
        pair.answer = { _, _, _ in .confirm(false) }
        pair.run()
        PairingRefusalTests.expectRefusal(pair, .numericComparisonFailed, by: .peripheral)
    }

    @Test("BLURtooth: no key for BR/EDR is offered, negotiated or derived", arguments: PairingRuleTests.both)
    func noCrossTransport(victim: LinkRole) {
        let all = SMP.KeyDistribution(rawValue: 0xFF)
        let eager = SecurityManager.Configuration.test().with { ($0.initiatorKeys, $0.responderKeys) = (all, all) }
        var pair = SecurityPair(central: eager, peripheral: eager)
        pair.tamper = { role, packet in
            role == victim || packet[0] != 0x01 ? [packet] : [packet[..<5] + [packet[5] | 0x08, packet[6] | 0x08]]
        }
        pair.pair()
        for (_, packet) in pair.log where packet[0] <= 0x02 {
            #expect(packet[5] & 0xF8 == 0 && packet[6] & 0xF8 == 0)
        }
    }

    @Test("A central refuses keys that it did not request")
    func unwantedKeys() {
        var pair = SecurityPair(central: .test().with { $0.responderKeys = [] })
        pair.tamper = { _, packet in packet[0] == 0x02 ? [packet[..<6] + [0x02]] : [packet] }
        pair.pair()
        #expect(pair.central.failures == [.refused(.invalidParameters)])
    }

    @Test(
        "An identity address that is not public or static is refused",
        arguments: [(0x01, 0x40), (0x01, 0x00), (0x02, 0xC0), (0xFF, 0xC0)]
    )
    func fleetingIdentity(kind: UInt8, top: UInt8) {
        for victim in PairingRuleTests.both {
            var pair = SecurityPair()
            pair.tamper = { role, packet in
                role != victim && packet[0] == 0x09 ? [[0x09, kind, 1, 2, 3, 4, 5, top]] : [packet]
            }
            pair.pair()
            #expect(pair[victim].failures == [.refused(.invalidParameters)] && pair[victim].outcome == nil)
        }
    }

    @Test("A peer that claims this host's identity is refused", arguments: PairingRuleTests.both)
    func ownIdentity(victim: LinkRole) {
        let own = SecurityPair.manager(victim, .test()).identity.address
        var pair = SecurityPair()
        pair.tamper = { role, packet in
            role != victim && packet[0] == 0x09 ? [[0x09, 1] + own.value.littleEndianOctets.prefix(6)] : [packet]
        }
        pair.pair()
        #expect(pair[victim].failures == [.refused(.invalidParameters)] && pair[victim].outcome == nil)
    }

    @Test("A zero IRK means that the peer has no private addresses, and is not stored")
    func zeroResolvingKey() {
        var pair = SecurityPair()
        pair.tamper = { _, packet in packet[0] == 0x08 ? [[0x08] + [UInt8](repeating: 0, count: 16)] : [packet] }
        pair.pair()
        #expect(pair.central.outcome?.bond != nil && pair.central.outcome?.bond?.resolvingKey == nil)
        #expect(pair.central.outcome?.bond?.identity == DeviceAddress(0xC000_0000_0002, .random))
    }
}
