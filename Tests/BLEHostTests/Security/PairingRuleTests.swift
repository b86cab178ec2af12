import BLECrypto
import BLEHost
import BLEWire
import Testing

/// Ways in which pairing was broken elsewhere, each of which must not work here.
@Suite("Pairing attacks")
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

    @Test("BLERP: a bond is not replaced by one that is weaker in any way", arguments: both, 0..<3)
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

    @Test("BLERP: a bond of the same strength is replaced only once the new one is complete", arguments: both)
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

    @Test(
        "CVE-2026-31773, CVE-2026-43334: requesting authentication does not make a key authenticated",
        arguments: both
    )
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
            #expect(pair[role].outcome?.strength.security != .authenticated)
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

    @Test("Just Works never counts as MITM protection, however it was selected", arguments: PairingTests.methods)
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
        "CVE-2018-5383, CVE-2020-26558: a public key off the curve, our own key or the debug key is refused",
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

    @Test("The debug key is accepted if the configuration allows it")
    func debugKey() {
        var pair = SecurityPair(
            central: .test().with { $0.keyPair = .debug },
            peripheral: .test().with { $0.allowsDebugKeys = true }
        )
        pair.pair()
        #expect(pair.central.outcome != nil && pair.peripheral.outcome != nil)
    }

    @Test(
        "CVE-2020-26558: a peer's reflection of this host's own values proves nothing",
        arguments: both,
        PairingTests.methods
    )
    func reflection(victim: LinkRole, one: PairingTests.Case) {
        var pair = SecurityPair(central: one.configuration(.central), peripheral: one.configuration(.peripheral))
        var said: [UInt8: [UInt8]] = [:], hasReflected = false
        pair.tamper = { role, packet in
            guard [0x03, 0x04, 0x0D].contains(packet[0]) else { return [packet] }
            if role == victim {
                said[packet[0]] = packet
                return [packet]
            }
            hasReflected = hasReflected || said[packet[0]] != nil
            return [said[packet[0]] ?? packet]
        }
        pair.pair()
        // A responder speaks second, and most of what it says comes too late to be repeated.
        #expect(hasReflected || victim == .peripheral)
        guard hasReflected else { return }
        #expect(pair[victim].outcome == nil)
        #expect(pair[victim].failures.count == 1)
    }

    @Test("A random number is sent only after the peer's confirm value has arrived", arguments: PairingTests.methods)
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

    @Test("Android 251514170: a random number before its confirm value is refused", arguments: both)
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

    @Test("Each of the 20 passkey rounds uses new random numbers")
    func freshNumbers() {
        var pair = SecurityPair(central: .test(.displayOnly), peripheral: .test(.keyboardOnly))
        pair.pair()
        let numbers = pair.log.filter { $0.octets[0] == 0x04 }.map(\.octets)
        #expect(numbers.count == 40 && Set(numbers).count == 40)
    }
}

extension PairingTests.Case {
    var hasPasskey: Bool {
        if case .passkeyEntry = method { true } else { false }
    }
}
