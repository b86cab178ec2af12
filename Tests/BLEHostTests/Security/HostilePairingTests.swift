import BLEHost
import BLEWire
import Testing

/// A peer that sends whatever it likes, whenever it likes.
@Suite("Hostile pairing")
struct HostilePairingTests {
    /// What a manager that is beset may do at most: it answers, and never comes to a bond by chance.
    private func drain(_ manager: inout SecurityManager, _ random: inout SeededGenerator, _ now: Instant) {
        var count = 0
        while let output = manager.next() {
            count += 1
            switch output {
            case .ask:
                let replies: [PairingReply] = [.confirm(true), .confirm(false), .passkey(7), .passkey(.max), .cancel]
                if let reply = replies.randomElement(using: &random) { manager.answer(reply, at: now) }
            case .encrypt, .paired: Issue.record("a stranger has come to \(output)")
            case .send(let packet): #expect(packet.count <= 65)
            case .withdraw, .securityRequested, .failed, .note: break
            }
        }
        #expect(count < 200)
    }

    @Test("Random packets never crash the host, and never lead to a bond", arguments: UInt64(0)..<16)
    func randomPackets(seed: UInt64) {
        var random = SeededGenerator(seed: seed), now = Instant()
        for role in [LinkRole.central, .peripheral] {
            let configuration = SecurityManager.Configuration.test(
                .allCases.randomElement(using: &random) ?? .displayOnly
            )
            var manager = SecurityPair.manager(role, configuration.with { $0.protection = .required }, seed: seed)
            for _ in 0..<400 {
                now = now + .milliseconds(.random(in: 0...2000, using: &random))
                switch Int.random(in: 0..<8, using: &random) {
                case 0: manager.pair(needsMITM: .random(using: &random), at: now)
                case 1: manager.wake(at: now)
                case 2: _ = manager.longTermKey(for: 0, diversifier: 0)
                case 3: manager.encryptionChanged([.on, .off, .failed].randomElement(using: &random) ?? .on, at: now)
                case 4:
                    let length = Int.random(in: 0...80, using: &random)
                    let octets = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                    manager.receive(octets.span, at: now)
                default:
                    let opcode = UInt8.random(in: 0...0x10, using: &random)
                    manager.receive(PairingOrderTests.packet(opcode, &random).span, at: now)
                }
                drain(&manager, &random, now)
            }
        }
    }

    @Test(
        "Packets lost, duplicated, swapped or changed never leave the two ends with different keys",
        arguments: UInt64(0)..<16
    )
    func mangledPackets(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for one in PairingTests.methods {
            var pair = SecurityPair(
                central: one.configuration(.central),
                peripheral: one.configuration(.peripheral),
                seed: seed
            )
            var held: [UInt8]?
            pair.tamper = { _, packet in
                if let kept = held.take() { return [packet, kept] }
                switch Int.random(in: 0..<12, using: &random) {
                case 0: return []
                case 1: return [packet, packet]
                case 2:
                    held = packet
                    return []
                case 3:
                    var changed = packet
                    changed[Int.random(in: 0..<packet.count, using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                    return [changed]
                default: return [packet]
                }
            }
            pair.pair()
            let central = pair.central.outcome?.bond, peripheral = pair.peripheral.outcome?.bond
            if let central, let peripheral, one.isSecure {
                #expect(central.longTermKey == peripheral.longTermKey && central.strength == peripheral.strength)
            }
            if central != nil || peripheral != nil { #expect(pair.key != nil) }
            #expect(pair.central.outcome?.method ?? one.method == one.method)
        }
    }

    @Test("Ten thousand aborted pairings change nothing")
    func abortedPairings() {
        let existing = PairingStrength(keySize: 16, isAuthenticated: true, isSecureConnections: false)
        let configuration = SecurityManager.Configuration.test(.displayOnly, .off)
        var manager = SecurityPair.manager(.peripheral, configuration, existing), now = Instant()
        var request = SMP.PairingFeatures.plain([.bonding, .mitm])
        request.ioCapability = .keyboardOnly
        let steps = [
            SMPPacket.pairingRequest(request).encoded, [0x03] + [UInt8](repeating: 9, count: 16), [0x05, 0x08],
        ]
        var attempts = 0
        for round in 0..<10_000 {
            now = now + .seconds(600)
            for packet in steps.prefix(round % 2 == 0 ? 3 : 2) { manager.receive(packet.span, at: now) }
            if round % 2 == 1 { manager.receive([0x04, 1].span, at: now) }
            while let output = manager.next() {
                if case .paired = output { Issue.record("nobody has paired") }
                if output == .send([0x02, 0, 0, 5, 16, 0, 0]) { attempts += 1 }
            }
            #expect(!manager.isUnderWay && manager.agreedKey == nil && manager.existing == existing)
        }
        #expect(attempts == 10_000 && manager.deadline == nil)
        #expect(manager.attempts.isOver(at: now + .seconds(3600)))
    }

    @Test("A peer that aborts after the user was asked must also wait", arguments: [true, false])
    func broken(isDisconnected: Bool) {
        let configuration = SecurityManager.Configuration.test(.displayYesNo).with { $0.asksForConsent = true }
        var manager = SecurityPair.manager(.peripheral, configuration), now = Instant(), asked = 0
        let packet = SMPPacket.pairingRequest(.plain([.bonding, .secureConnections])).encoded
        for _ in 0..<1000 {
            manager.receive(packet.span, at: now)
            if isDisconnected { manager.disconnected(at: now) } else { manager.receive([0x05, 0x08].span, at: now) }
            while let output = manager.next() { if case .ask = output { asked += 1 } }
            now = now + .milliseconds(100)
        }
        // At 0, 1, 3, 7, 15, 31 and 63 s.
        #expect(asked == 7)
    }

    @Test("A peer that fails must wait longer each time, up to about a minute, and is told so")
    func repeatedAttempts() {
        var now = Instant(), waits: [Duration] = []
        var manager = SecurityPair.manager(.peripheral, .test(.displayOnly, .off))
        var request = SMP.PairingFeatures.plain([.mitm])
        request.ioCapability = .keyboardOnly
        let packet = SMPPacket.pairingRequest(request).encoded
        for _ in 0..<9 {
            manager.receive(packet.span, at: now)
            manager.receive(([0x03] + [UInt8](repeating: 9, count: 16)).span, at: now)
            manager.receive(([0x04] + [UInt8](repeating: 9, count: 16)).span, at: now)
            let due = manager.attempts.next(at: now) ?? now
            waits.append(due - now)
            while manager.next() != nil {}
            manager.receive(packet.span, at: Instant(nanoseconds: due.nanoseconds - 1))
            #expect(manager.next() == .send([0x05, 0x09]))
            #expect(manager.next() == .failed(.refused(.repeatedAttempts)))
            manager.pair(needsMITM: false, at: Instant(nanoseconds: due.nanoseconds - 1))
            #expect(manager.next() == .failed(.tooSoon(until: due)))
            now = due
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 64, 64].map { .seconds($0) })
        manager.receive(packet.span, at: now)
        #expect(manager.isUnderWay)
    }

    @Test("Failures expire one by one, and all are cleared when pairing succeeds")
    func forgiveness() {
        var attempts = RepeatedAttempts(), now = Instant()
        #expect(attempts.isOver(at: now))
        for _ in 0..<3 { attempts.failed(at: now) }
        #expect(attempts.next(at: now) == now + .seconds(4))
        now = now + .seconds(4 + 60)
        attempts.failed(at: now)
        #expect(attempts.next(at: now) == now + .seconds(4))
        #expect(!attempts.isOver(at: now + .seconds(4 + 179)) && attempts.isOver(at: now + .seconds(4 + 180)))
        attempts.succeeded()
        #expect(attempts == RepeatedAttempts())
    }
}
