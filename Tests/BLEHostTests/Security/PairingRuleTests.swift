import BLECrypto
import BLEHost
import BLEWire
import Testing

/// Ways in which pairing was broken elsewhere, each of which must not work here.
@Suite("Pairing that others broke")
struct PairingRuleTests {
    typealias Configuration = SecurityManager.Configuration

    static let strong = PairingStrength(keySize: 16, isAuthenticated: true, isSecureConnections: true)
    static let plain = PairingStrength(keySize: 16, isAuthenticated: false, isSecureConnections: false)
    static let both = [LinkRole.central, .peripheral]

    /// A pairing of which one end alone knows of a bond.
    static func pair(
        _ existing: PairingStrength?,
        at role: LinkRole,
        _ central: Configuration,
        _ peripheral: Configuration
    ) -> SecurityPair {
        var pair = SecurityPair(central: central, peripheral: peripheral)
        pair[role].manager.existing = existing
        return pair
    }

    @Test("BLERP: a bond is not replaced by a weaker one, in whatever way it is weaker", arguments: both, 0..<3)
    func weakerBond(role: LinkRole, weakness: Int) {
        var weak = Configuration.test(.displayYesNo), reason = SMP.Reason.authenticationRequirements
        var existing = Self.strong
        switch weakness {
        case 0: weak.ioCapability = .noInputNoOutput
        case 1: weak.secureConnections = .off
        default:
            (weak.leastKeySize, weak.greatestKeySize, reason) = (7, 15, .encryptionKeySize)
            existing.isAuthenticated = false
        }
        let own = Configuration.test(.keyboardDisplay).with { $0.leastKeySize = 7 }
        var pair = Self.pair(existing, at: role, role == .central ? own : weak, role == .central ? weak : own)
        pair.pair()
        PairingRefusalTests.expectRefusal(pair, reason, by: role)
        #expect(pair[role].manager.existing == existing)
    }

    @Test("BLERP: a bond of the same strength is replaced, and only when all of the new one is there", arguments: both)
    func equalBond(role: LinkRole) {
        var pair = Self.pair(Self.strong, at: role, .test(.displayYesNo), .test(.displayYesNo))
        pair.keepsHistory = true
        pair.pair()
        #expect(pair[role].outcome?.strength == Self.strong && pair[role].questions.count == 1)
        let keys = pair.log.filter { (0x06...0x0A).contains($0.octets[0]) }.count
        for lost in 1...keys {
            var cut = Self.pair(Self.strong, at: role, .test(.displayYesNo), .test(.displayYesNo))
            cut.lifetime = pair.log.count - lost
            cut.pair()
            cut.disconnect()
            // What is lost behind the last that this end waits for does not concern it.
            let isComplete = role == .central && lost <= keys / 2
            #expect((cut[role].outcome != nil) == isComplete)
        }
    }

    @Test("BLERP: the user is asked before an unauthenticated pairing replaces a bond", arguments: both, [true, false])
    func consentToReplace(role: LinkRole, isGiven: Bool) {
        var pair = Self.pair(Self.plain, at: role, .test(), .test())
        pair.answer = { _, _, _ in .confirm(isGiven) }
        pair.pair()
        #expect(pair[role].questions == [.consent(replacesBond: true)])
        #expect((pair[role].outcome != nil) == isGiven)
        if !isGiven { PairingRefusalTests.expectRefusal(pair, .unspecified, by: role) }
    }

    @Test("BLERP: who says to have another's identity does not replace its bond unless that is authenticated")
    func identityOfAnother() throws {
        var pair = SecurityPair()
        pair.pair()
        let works = try #require(pair.central.outcome), bond = try #require(works.bond)
        #expect(!works.mayReplace(bond))
        pair = SecurityPair(central: .test(.displayYesNo), peripheral: .test(.displayYesNo))
        pair.pair()
        let compared = try #require(pair.central.outcome), other = try #require(compared.bond)
        #expect(compared.mayReplace(bond) && compared.mayReplace(other) && !works.mayReplace(other))
    }

    @Test("CVE-2026-31773, CVE-2026-43334: what was asked for makes nothing authenticated", arguments: both)
    func authenticatedByWish(role: LinkRole) {
        for generation in PairingRefusalTests.generations {
            // Somebody on the way has both ends believe that the other wants this, and can do nothing for it.
            var pair = SecurityPair(
                central: .test(.keyboardDisplay, generation),
                peripheral: .test(.keyboardDisplay, generation)
            )
            pair.tamper = { _, packet in
                packet[0] <= 0x02 ? [[packet[0], 3] + packet[2..<3] + [packet[3] | 0x04] + packet[4...]] : [packet]
            }
            pair.pair()
            #expect(pair[role].outcome?.security != .authenticated)
            // As what was changed on the way goes into the values, it comes to nothing at all.
            #expect(pair[role].outcome == nil)
        }
        var insisting = SecurityPair(
            central: .test(protection: role == .central ? .required : .none),
            peripheral: .test(protection: role == .peripheral ? .required : .none)
        )
        insisting.pair()
        PairingRefusalTests.expectRefusal(insisting, .authenticationRequirements, by: role)
    }

    @Test("Just Works never keeps out who is in between, however it came about", arguments: PairingTests.methods)
    func justWorks(one: PairingTests.Case) {
        var pair = SecurityPair(
            central: one.configuration(.central).with { $0.protection = .none },
            peripheral: one.configuration(.peripheral).with { $0.protection = .none }
        )
        pair.pair()
        let isAuthenticated = one.method == .outOfBand
        for role in Self.both { #expect(pair[role].outcome?.strength.isAuthenticated == isAuthenticated) }
    }

    /// Public keys that a peer might send instead of one of its own.
    static func hostileKeys(of victim: LinkRole) -> [(name: String, x: [UInt8], y: [UInt8])] {
        let own = SecurityPair.pairs[victim == .central ? 0 : 1].publicKey
        let other = SecurityPair.pairs[2].publicKey, debug = P256KeyPair.debug.publicKey
        let zero = [UInt8](repeating: 0, count: 32), all = [UInt8](repeating: 0xFF, count: 32)
        return [
            ("off the curve", other.x, own.y), ("zero", zero, zero), ("beyond the field", all, all),
            ("y is zero", other.x, zero), ("one bit is wrong", [other.x[0] ^ 1] + other.x.dropFirst(), other.y),
            ("the victim's own", own.x, own.y), ("the victim's own, mirrored", own.x, mirrored(own.y)),
            ("the one that everybody knows", debug.x, debug.y), ("that one, mirrored", debug.x, mirrored(debug.y)),
        ]
    }

    /// The other coordinate of a point with the same X: p − y.
    static func mirrored(_ y: [UInt8]) -> [UInt8] {
        var field = [UInt8](repeating: 0xFF, count: 12) + [UInt8](repeating: 0, count: 12)
        field += [1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]
        var borrow = 0
        return zip(field, y).map { minuend, subtrahend in
            let difference = Int(minuend) - Int(subtrahend) - borrow
            borrow = difference < 0 ? 1 : 0
            return UInt8(difference & 0xFF)
        }
    }

    @Test(
        "CVE-2018-5383, CVE-2020-26558: a public key off the curve, our own, or everybody's comes to no secret",
        arguments: both
    )
    func hostileKey(victim: LinkRole) {
        for key in Self.hostileKeys(of: victim) {
            var pair = SecurityPair()
            pair.tamper = { role, packet in
                role != victim && packet[0] == 0x0C ? [[0x0C] + key.x + key.y] : [packet]
            }
            pair.pair()
            #expect(pair[victim].failures == [.refused(.invalidParameters)], "\(key.name)")
            #expect(pair[victim].outcome == nil && pair.key == nil)
        }
    }

    @Test("The key that everybody knows is taken where that is configured")
    func debugKey() {
        var pair = SecurityPair(
            central: .test().with { $0.keyPair = .debug },
            peripheral: .test().with { $0.allowsDebugKeys = true }
        )
        pair.pair()
        #expect(pair.central.outcome != nil && pair.peripheral.outcome != nil)
    }

    @Test("CVE-2020-26558: what this host said itself is no proof of anything", arguments: both, PairingTests.methods)
    func reflection(victim: LinkRole, one: PairingTests.Case) {
        var pair = SecurityPair(central: one.configuration(.central), peripheral: one.configuration(.peripheral))
        var said: [UInt8: [UInt8]] = [:], hasReflected = false
        pair.tamper = { role, packet in
            guard [0x03, 0x04, 0x09, 0x0D].contains(packet[0]) else { return [packet] }
            if role == victim {
                said[packet[0]] = packet
                return [packet]
            }
            hasReflected = hasReflected || said[packet[0]] != nil
            return [said[packet[0]] ?? packet]
        }
        pair.pair()
        #expect(hasReflected && pair[victim].outcome == nil)
        #expect(pair[victim].failures.count == 1)
    }

    @Test("A number is told only to who is committed to another", arguments: PairingTests.methods)
    func confirmBeforeRandom(one: PairingTests.Case) {
        guard one.method != .outOfBand || !one.isSecure else { return }
        var pair = SecurityPair(central: one.configuration(.central), peripheral: one.configuration(.peripheral))
        pair.pair()
        let order = pair.log.filter { [0x03, 0x04].contains($0.octets[0]) }.map { ($0.from, $0.octets[0]) }
        var confirms: [LinkRole: Int] = [:], randoms: [LinkRole: Int] = [:]
        for (role, opcode) in order {
            if opcode == 0x03 {
                confirms[role, default: 0] += 1
            } else {
                randoms[role, default: 0] += 1
                // Without a passkey only the responder of LE Secure Connections commits itself.
                let committed = one.isSecure && !one.hasPasskey ? .peripheral : role.other
                #expect(randoms[role, default: 0] <= confirms[committed, default: 0])
            }
        }
        #expect(!order.isEmpty)
    }

    @Test("Android 251514170: a number that comes before what commits to it is refused", arguments: both)
    func randomBeforeConfirm(victim: LinkRole) {
        for one in PairingTests.methods where !(one.isSecure && one.method == .outOfBand) {
            var pair = SecurityPair(central: one.configuration(.central), peripheral: one.configuration(.peripheral))
            pair.tamper = { role, packet in
                role != victim && packet[0] == 0x03 ? [[0x04] + packet.dropFirst()] : [packet]
            }
            pair.pair()
            guard victim == .central || !one.isSecure || one.hasPasskey else { continue }
            #expect(pair[victim].failures == [.refused(.unspecified)], "\(one)")
            #expect(pair[victim].outcome == nil)
        }
    }

    @Test("Each of the 20 rounds of a passkey has numbers of its own")
    func freshNumbers() {
        var pair = SecurityPair(central: .test(.displayOnly), peripheral: .test(.keyboardOnly))
        pair.pair()
        let numbers = pair.log.filter { $0.octets[0] == 0x04 }.map(\.octets)
        #expect(numbers.count == 40 && Set(numbers).count == 40)
    }

    @Test("SweynTooth: a key size outside of 7 to 16 is refused", arguments: [UInt8](0...6) + [17, 18, 127, 253, 255])
    func keySizeOverflow(size: UInt8) {
        for victim in Self.both {
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

    @Test("SweynTooth: a peripheral has no key for the link before pairing has come to one, and never a zero one")
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

    @Test("Encryption with another key than the new one does not count as that")
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

    @Test("A link is worth what its key is worth, also if pairing fails while it is being encrypted", arguments: both)
    func strengthOfLink(role: LinkRole) throws {
        var pair = Self.pair(nil, at: role, .test(), .test())
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

    @Test("SweynTooth: a long term key of zeros is refused", arguments: both)
    func zeroLongTermKey(victim: LinkRole) {
        var pair = SecurityPair(central: .test(.noInputNoOutput, .off), peripheral: .test(.noInputNoOutput, .off))
        pair.tamper = { role, packet in
            role != victim && packet[0] == 0x06 ? [[0x06] + [UInt8](repeating: 0, count: 16)] : [packet]
        }
        pair.pair()
        #expect(pair[victim].failures == [.refused(.keyRejected)] && pair[victim].outcome == nil)
    }

    @Test("SweynTooth: the check of the secret is neither skipped nor answered before its time", arguments: both)
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

    @Test("A peripheral whose user still compares does not answer the check")
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

    @Test("BLURtooth: no key for BR/EDR is offered, agreed on, or derived", arguments: both)
    func noCrossTransport(victim: LinkRole) {
        let all = SMP.KeyDistribution(rawValue: 0xFF)
        let eager = Configuration.test().with { ($0.initiatorKeys, $0.responderKeys) = (all, all) }
        var pair = SecurityPair(central: eager, peripheral: eager)
        pair.tamper = { role, packet in
            role == victim || packet[0] != 0x01 ? [packet] : [packet[..<5] + [packet[5] | 0x08, packet[6] | 0x08]]
        }
        pair.pair()
        for (_, packet) in pair.log where packet[0] <= 0x02 {
            #expect(packet[5] & 0xF8 == 0 && packet[6] & 0xF8 == 0)
        }
    }

    @Test("A central refuses keys that it did not ask for")
    func unwantedKeys() {
        var pair = SecurityPair(central: .test().with { $0.responderKeys = [] })
        pair.tamper = { _, packet in packet[0] == 0x02 ? [packet[..<6] + [0x02]] : [packet] }
        pair.pair()
        #expect(pair.central.failures == [.refused(.invalidParameters)])
    }

    @Test("An identity that changes is refused", arguments: [(0x01, 0x40), (0x01, 0x00), (0x02, 0xC0), (0xFF, 0xC0)])
    func fleetingIdentity(kind: UInt8, top: UInt8) {
        for victim in Self.both {
            var pair = SecurityPair()
            pair.tamper = { role, packet in
                role != victim && packet[0] == 0x09 ? [[0x09, kind, 1, 2, 3, 4, 5, top]] : [packet]
            }
            pair.pair()
            #expect(pair[victim].failures == [.refused(.invalidParameters)] && pair[victim].outcome == nil)
        }
    }

    @Test("A peer that has no private addresses says so with a key of zeros, which is not kept")
    func zeroResolvingKey() {
        var pair = SecurityPair()
        pair.tamper = { _, packet in packet[0] == 0x08 ? [[0x08] + [UInt8](repeating: 0, count: 16)] : [packet] }
        pair.pair()
        #expect(pair.central.outcome?.bond != nil && pair.central.outcome?.bond?.resolvingKey == nil)
        #expect(pair.central.outcome?.bond?.identity == DeviceAddress(0xC000_0000_0002, .random))
    }
}

extension PairingTests.Case {
    var hasPasskey: Bool {
        if case .passkeyEntry = method { true } else { false }
    }
}
