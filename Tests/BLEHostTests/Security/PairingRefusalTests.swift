import BLECrypto
import BLEHost
import BLEWire
import Testing

/// Whatever goes wrong, both ends learn why, and nothing comes of it.
@Suite("Failing pairings")
struct PairingRefusalTests {
    typealias Configuration = SecurityManager.Configuration

    static let passkey: UInt32 = 123_456
    static let generations: [Configuration.SecureConnections] = [.preferred, .off]

    /// Expects that the end with this role refused for a reason, and told the other so.
    static func expectRefusal(_ pair: SecurityPair, _ reason: SMP.Reason, by role: LinkRole) {
        #expect(pair[role].failures == [.refused(reason)])
        #expect(pair[role.other].failures == [.refusedByPeer(reason)])
        expectNothing(pair)
    }

    static func expectNothing(_ pair: SecurityPair) {
        #expect(pair.key == nil)
        for role in [LinkRole.central, .peripheral] {
            #expect(pair[role].outcome == nil && pair[role].open == nil)
            #expect(!pair[role].manager.isUnderWay && pair[role].manager.deadline == nil)
            #expect(pair[role].manager.agreedKey == nil)
        }
    }

    @Test("A passkey with one wrong bit is refused", arguments: generations, UInt32(0)..<20)
    func wrongPasskey(generation: Configuration.SecureConnections, bit: UInt32) {
        var pair = SecurityPair(
            central: .test(.displayOnly, generation).with { $0.passkey = Self.passkey },
            peripheral: .test(.keyboardOnly, generation)
        )
        let wrong = Self.passkey ^ (UInt32(1) << bit)
        pair.answer = { _, question, _ in question == .enterPasskey ? .passkey(wrong) : nil }
        pair.pair()
        // Who hears the other's number first sees it; digits that are no passkey are seen at once.
        let reason: SMP.Reason = wrong > 999_999 ? .passkeyEntryFailed : .confirmValueFailed
        Self.expectRefusal(pair, reason, by: .peripheral)
        let rounds = pair.log.filter { $0.from == .peripheral && $0.octets[0] == 0x03 }.count
        if generation == .preferred, reason == .confirmValueFailed { #expect(rounds == Int(bit) + 1) }
    }

    @Test("Numbers that differ or are rejected by the user are refused", arguments: [LinkRole.central, .peripheral])
    func rejectedComparison(role: LinkRole) {
        var pair = SecurityPair(central: .test(.displayYesNo), peripheral: .test(.displayYesNo))
        pair.answer = { who, question, other in
            who == role ? .confirm(false) : SecurityPair.honest(who, question, other)
        }
        pair.pair()
        Self.expectRefusal(pair, .numericComparisonFailed, by: role)
    }

    @Test(
        "A user may cancel at any question, and the peer is told",
        arguments: [
            (SMP.IOCapability.displayYesNo, SMP.Reason.numericComparisonFailed), (.keyboardOnly, .passkeyEntryFailed),
        ],
        [LinkRole.central, .peripheral]
    )
    func cancelled(what: (io: SMP.IOCapability, reason: SMP.Reason), role: LinkRole) {
        var pair = SecurityPair(central: .test(what.io), peripheral: .test(what.io))
        pair.answer = { who, _, _ in who == role ? .cancel : nil }
        pair.pair()
        Self.expectRefusal(pair, what.reason, by: role)
        #expect(pair[role].manager.attempts == RepeatedAttempts())
    }

    @Test("A user whose device shows the passkey may also cancel", arguments: generations)
    func cancelledDisplay(generation: Configuration.SecureConnections) {
        var pair = SecurityPair(central: .test(.keyboardOnly, generation), peripheral: .test(.displayOnly, generation))
        pair.answer = { who, _, _ in who == .peripheral ? .cancel : nil }
        pair.pair()
        Self.expectRefusal(pair, .passkeyEntryFailed, by: .peripheral)
        #expect(pair.central.told.contains(.withdraw))
    }

    @Test("Denied consent is reported, and leaves nothing behind")
    func noConsent() {
        var pair = SecurityPair(peripheral: .test().with { $0.asksForConsent = true })
        pair.answer = { _, _, _ in .confirm(false) }
        pair.pair()
        Self.expectRefusal(pair, .unspecified, by: .peripheral)
        #expect(pair.peripheral.questions == [.consent(replacesBond: false)])
        #expect(pair.log.map(\.octets[0]) == [0x01, 0x05])
    }

    @Test("An answer to another question or to none is ignored")
    func strayAnswers() {
        var pair = SecurityPair(central: .test(.displayYesNo), peripheral: .test(.displayYesNo))
        pair.central.manager.answer(.confirm(true), at: pair.now)
        pair.central.manager.answer(.cancel, at: pair.now)
        pair.answer = { _, _, _ in nil }
        pair.pair()
        pair.central.manager.answer(.passkey(1), at: pair.now)
        pair.run()
        #expect(pair.central.told.filter { $0 == .note(.unsolicitedReply) }.count == 3)
        #expect(pair.central.manager.isUnderWay)
        pair.answer = SecurityPair.honest
        pair.run()
        #expect(pair.central.outcome != nil)
    }

    @Test(
        "Pairing fails after 30 s of silence, and is not possible again on that link",
        arguments: [LinkRole.central, .peripheral]
    )
    func timeout(role: LinkRole) {
        var pair = SecurityPair(central: .test(.displayYesNo), peripheral: .test(.displayYesNo))
        pair.answer = { _, _, _ in nil }
        pair.pair()
        let deadline = pair.now + .seconds(30)
        #expect(pair[role].manager.deadline == deadline)
        pair[role].manager.wake(at: Instant(nanoseconds: deadline.nanoseconds - 1))
        #expect(pair[role].manager.isUnderWay)
        pair[role].manager.wake(at: deadline)
        pair.run()
        #expect(pair[role].failures == [.timedOut] && pair[role].open == nil && pair[role].told.contains(.withdraw))
        let sent = pair.log.count
        pair[role].manager.pair(needsMITM: false, at: deadline)
        for opcode in UInt8(0)...0x10 { pair[role].manager.receive([opcode, 3, 0, 1, 16, 0, 0].span, at: deadline) }
        pair.run()
        #expect(pair.log.count == sent && pair[role].failures == [.timedOut, .timedOut])
        #expect(pair[role].manager.deadline == nil)
    }

    @Test("Each packet sent extends the timeout by another 30 s")
    func timer() {
        var pair = SecurityPair(central: .test(.displayYesNo), peripheral: .test(.displayYesNo))
        pair.answer = { _, _, _ in nil }
        pair.pair()
        pair.now = pair.now + .seconds(29)
        pair.answer = { role, question, other in role == .central ? SecurityPair.honest(role, question, other) : nil }
        pair.run()
        #expect(pair.central.manager.deadline == pair.now + .seconds(30))
        #expect(pair.peripheral.manager.deadline == Instant() + .seconds(30))
    }

    @Test("A Security Request without a response ends after 30 s, or when the link is encrypted")
    func unansweredRequest() {
        var manager = SecurityPair.manager(.peripheral, .test())
        manager.pair(needsMITM: false, at: Instant())
        #expect(manager.deadline == Instant() + .seconds(30))
        var encrypted = manager
        encrypted.encryptionChanged(.on, at: Instant())
        #expect(encrypted.deadline == nil && !encrypted.isUnderWay)
        manager.wake(at: Instant() + .seconds(30))
        #expect(manager.deadline == nil && !manager.isUnderWay)
    }

    @Test("A link that ends at any step leaves nothing behind", arguments: PairingTests.methods)
    func disconnect(one: PairingTests.Case) {
        for lifetime in 0..<200 {
            var pair = SecurityPair(central: one.configuration(.central), peripheral: one.configuration(.peripheral))
            pair.lifetime = lifetime
            pair.pair()
            let isWhole = pair.central.outcome != nil && pair.peripheral.outcome != nil
            if isWhole, lifetime >= pair.log.count { return }
            pair.disconnect()
            // The last packets of all may get lost, which only the one end can know that waits for them.
            for role in [LinkRole.central, .peripheral] {
                let isOver = pair[role].outcome != nil || !pair[role].failures.isEmpty || pair.log.count <= 1
                #expect(isOver && pair[role].open == nil && pair[role].manager.agreedKey == nil)
                #expect(pair[role].outcome == nil || pair[role].failures.isEmpty)
                if pair[role].outcome == nil { #expect(pair[role].manager.existing == nil) }
            }
            if pair.peripheral.outcome != nil { #expect(pair.central.outcome != nil) }
        }
        Issue.record("it never comes to an end")
    }

    @Test("Encryption that fails or ends too early fails the pairing", arguments: [EncryptionChange.failed, .off])
    func encryptionFails(change: EncryptionChange) {
        var pair = SecurityPair()
        pair.tamper = { _, packet in (0x06...0x0A).contains(packet[0]) ? [] : [packet] }
        pair.pair()
        #expect(pair.central.manager.agreedKey != nil && pair.central.outcome == nil)
        pair.central.manager.encryptionChanged(change, at: pair.now)
        pair.peripheral.manager.encryptionChanged(change, at: pair.now)
        pair.run()
        #expect(pair.central.failures == [.encryptionFailed] && pair.peripheral.failures == [.encryptionFailed])
        #expect(pair.central.outcome == nil && pair.peripheral.outcome == nil)
    }

    @Test(
        "A requirement of one end that cannot be met is refused",
        arguments: [LinkRole.central, .peripheral],
        [SMP.Reason.authenticationRequirements, .encryptionKeySize]
    )
    func demands(role: LinkRole, reason: SMP.Reason) {
        for generation in Self.generations {
            var strict = Configuration.test(.noInputNoOutput, generation)
            var other = Configuration.test(.noInputNoOutput, generation)
            if reason == .encryptionKeySize {
                (other.leastKeySize, other.greatestKeySize) = (7, 15)
            } else {
                strict.protection = .required
            }
            var pair = SecurityPair(
                central: role == .central ? strict : other,
                peripheral: role == .central ? other : strict
            )
            pair.pair()
            Self.expectRefusal(pair, reason, by: role)
        }
    }

    @Test(
        "A host that requires LE Secure Connections refuses peers without it",
        arguments: [LinkRole.central, .peripheral]
    )
    func secureConnectionsOnly(role: LinkRole) {
        var pair = SecurityPair(
            central: .test(.displayYesNo, role == .central ? .required : .off),
            peripheral: .test(.displayYesNo, role == .central ? .off : .required)
        )
        pair.pair()
        Self.expectRefusal(pair, .authenticationRequirements, by: role)
    }

    @Test("A pairing that requires MITM protection fails without it", arguments: [LinkRole.central, .peripheral])
    func needed(role: LinkRole) {
        var pair = SecurityPair(central: .test(protection: .none), peripheral: .test(protection: .none))
        pair.pair(needsMITM: true, from: role)
        Self.expectRefusal(pair, .authenticationRequirements, by: role)
    }

    @Test("A peer that claims out-of-band data that it was never given is refused")
    func outOfBandOfNobody() {
        let told = PairingTests.outOfBand(.peripheral, true).remote
        var pair = SecurityPair(peripheral: .test().with { $0.outOfBand.remote = told })
        pair.pair()
        Self.expectRefusal(pair, .oobNotAvailable, by: .central)
    }

    @Test("Wrong out-of-band data is refused", arguments: generations)
    func wrongOutOfBand(generation: Configuration.SecureConnections) {
        let isSecure = generation == .preferred
        let central = Configuration.test(.noInputNoOutput, generation).with {
            $0.outOfBand = PairingTests.outOfBand(.central, isSecure)
        }
        let peripheral = Configuration.test(.noInputNoOutput, generation).with {
            $0.outOfBand = PairingTests.outOfBand(.peripheral, isSecure)
            $0.outOfBand.temporaryKey = isSecure ? nil : Key128(wire: 8)
            $0.outOfBand.remote?.random = Key128(wire: 1)
        }
        var pair = SecurityPair(central: central, peripheral: peripheral)
        pair.pair()
        Self.expectRefusal(pair, .confirmValueFailed, by: .peripheral)
    }
}
