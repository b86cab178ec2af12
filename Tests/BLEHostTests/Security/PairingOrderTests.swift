import BLEHost
import BLEWire
import Testing

/// Every packet in every state of every method, at both ends: it is what is due, it is refused for the reason that the
/// specification has for that, or it is ignored.
@Suite("Order of pairing packets")
struct PairingOrderTests {
    /// A state of one end: what it was like there, and what may come.
    struct Moment: Sendable {
        let name: String
        let role: LinkRole
        let manager: SecurityManager
        /// The packets that are due.
        let due: Set<UInt8>
        let hasPasskey: Bool
    }

    /// What an end waits for after each event of a pairing, as the codes of packets; `-` if that is the user, the
    /// controller or nobody.
    static let scripts: [(one: PairingTests.Case, central: String, peripheral: String)] = {
        let keys = "06 07 08 09 0A", identity = "08 09 0A"
        let rounds = Array(repeating: "03 04", count: 20).joined(separator: " ")
        func find(_ isSecure: Bool, _ method: PairingMethod) -> PairingTests.Case {
            guard let one = PairingTests.methods.first(where: { $0.isSecure == isSecure && $0.method == method }) else {
                preconditionFailure("there is a case for each method")
            }
            return one
        }
        return [
            (find(false, .justWorks), "02 03 04 - \(keys) -", "01 03 04 - - \(keys) -"),
            (find(false, .outOfBand), "02 03 04 - \(keys) -", "01 03 04 - - \(keys) -"),
            (
                find(false, .passkeyEntry(.responderDisplays)), "02 - 03 04 - \(keys) -", "01 03 04 - - \(keys) -"
            ),
            (
                find(false, .passkeyEntry(.initiatorDisplays)), "02 03 04 - \(keys) -", "01 03 - 04 - - \(keys) -"
            ),
            (find(true, .justWorks), "02 0C 03 04 0D - \(identity) -", "01 0C 04 0D - - \(identity) -"),
            (find(true, .numericComparison), "02 0C 03 04 - 0D - \(identity) -", "01 0C 04 0D - - - \(identity) -"),
            (find(true, .outOfBand), "02 0C 04 0D - \(identity) -", "01 0C 04 0D - - \(identity) -"),
            (
                find(true, .passkeyEntry(.responderDisplays)), "02 0C - \(rounds) 0D - \(identity) -",
                "01 0C \(rounds) 0D - - \(identity) -"
            ),
            (
                find(true, .passkeyEntry(.initiatorDisplays)), "02 0C \(rounds) 0D - \(identity) -",
                "01 0C 03 - \(rounds.dropFirst(3)) 0D - - \(identity) -"
            ),
        ]
    }()

    static func moments(_ index: Int) -> [Moment] {
        let script = scripts[index]
        var pair = SecurityPair(
            central: script.one.configuration(.central),
            peripheral: script.one.configuration(.peripheral)
        )
        pair.keepsHistory = true
        let fresh = pair.peripheral.manager
        pair.central.manager.pair(needsMITM: false, at: pair.now)
        let offered = pair.central.manager
        pair.run()
        let states: [(LinkRole, [SecurityManager], String)] = [
            (.central, [offered] + after(.central, pair), script.central),
            (.peripheral, [fresh] + after(.peripheral, pair), script.peripheral),
        ]
        return states.flatMap { role, managers, text in
            let words = text.split(separator: " ")
            if managers.count != words.count {
                Issue.record("\(role) of \(script.one): \(managers.count) states, \(words.count) words")
            }
            return zip(managers, words).enumerated().map { position, state in
                Moment(
                    name: "\(role) of \(script.one), state \(position)",
                    role: role,
                    manager: drained(state.0),
                    due: state.1 == "-" ? [] : [UInt8(state.1, radix: 16) ?? 0],
                    hasPasskey: script.one.hasPasskey
                )
            }
        }
    }

    private static func after(_ role: LinkRole, _ pair: SecurityPair) -> [SecurityManager] {
        pair.history.filter { $0.role == role }.map(\.after)
    }

    private static func drained(_ manager: SecurityManager) -> SecurityManager {
        var manager = manager
        while manager.next() != nil {}
        return manager
    }

    /// A packet with this code that is well formed.
    static func packet(_ opcode: UInt8, _ random: inout SeededGenerator) -> [UInt8] {
        let lengths = [0, 6, 6, 16, 16, 1, 16, 10, 16, 7, 16, 1, 64, 16, 1, 5, 5]
        var octets = (0..<lengths[Int(opcode)]).map { _ in UInt8.random(in: 1...255, using: &random) }
        if opcode <= 0x02, !octets.isEmpty { octets = [3, 0, 1, 16, 0, 0] }
        if opcode == 0x09 { (octets[0], octets[6]) = (1, 0xC0) }
        return [opcode] + octets
    }

    @Test("Each packet is accepted, refused or ignored in each state as specified", arguments: scripts.indices)
    func everyState(index: Int) {
        var random = SeededGenerator(seed: UInt64(index))
        for moment in Self.moments(index) {
            for opcode in UInt8(0)...0x10 {
                var manager = moment.manager
                manager.receive(Self.packet(opcode, &random).span, at: Instant())
                var outputs: [SecurityManager.Output] = []
                while let output = manager.next() { outputs.append(output) }
                check(opcode, moment, outputs, manager)
            }
        }
    }

    private func check(
        _ opcode: UInt8,
        _ moment: Moment,
        _ outputs: [SecurityManager.Output],
        _ after: SecurityManager
    ) {
        let comment = Comment(rawValue: "\(moment.name), code \(opcode): \(outputs)")
        let isUnderWay = moment.manager.isUnderWay
        let failures = outputs.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
        let sent = outputs.compactMap { if case .send(let packet) = $0 { packet } else { nil } }
        let isUnchanged = failures.isEmpty && sent.isEmpty && after.isUnderWay == isUnderWay
        switch (opcode, moment.role) {
        case (0x00, _), (0x0F, _), (0x10, _): #expect(isUnchanged, comment)
        case _ where moment.due.contains(opcode):
            #expect(
                !failures.contains(.refused(.unspecified)) && !failures.contains(.refused(.commandNotSupported)),
                comment
            )
        case (0x01, .central), (0x0B, .peripheral):
            #expect(
                sent == [[0x05, 0x07]] && failures == (isUnderWay ? [.refused(.commandNotSupported)] : []),
                comment
            )
            #expect(!after.isUnderWay, comment)
        case (0x0B, .central) where isUnderWay: #expect(isUnchanged, comment)
        case (0x0B, .central): #expect(outputs.count == 1 && isUnchanged, comment)
        case (0x01, .peripheral) where !isUnderWay:
            // After a pairing that made a bond, the user is asked or it is refused for being weaker.
            #expect(!failures.contains(.refused(.unspecified)), comment)
        case _ where !isUnderWay: #expect(isUnchanged, comment)
        case (0x05, _):
            #expect(failures.count == 1 && sent.isEmpty && !after.isUnderWay, comment)
            if case .refusedByPeer = failures.first {} else { Issue.record(comment) }
        case (0x0E, _) where moment.hasPasskey && failures.isEmpty: #expect(isUnchanged, comment)
        default:
            #expect(failures == [.refused(.unspecified)] && sent == [[0x05, 0x08]], comment)
            #expect(!after.isUnderWay && after.agreedKey == nil, comment)
        }
        #expect(
            !outputs.contains { if case .paired = $0 { true } else { false } } || moment.due.contains(opcode),
            comment
        )
    }

    @Test("A keypress during passkey entry is reported and changes nothing")
    func keypress() {
        var pair = SecurityPair(central: .test(.keyboardOnly), peripheral: .test(.displayOnly))
        pair.answer = { _, _, _ in nil }
        pair.pair()
        for type in UInt8(0)...5 { pair.peripheral.manager.receive([0x0E, type].span, at: pair.now) }
        pair.answer = SecurityPair.honest
        pair.run()
        #expect(pair.peripheral.outcome?.method == .passkeyEntry(.responderDisplays))
    }

    @Test("A packet of the wrong length is refused as invalid, and ends the pairing", arguments: scripts.indices)
    func lengths(index: Int) {
        var random = SeededGenerator(seed: UInt64(index))
        for moment in Self.moments(index) {
            for opcode in UInt8(1)...0x0E {
                let packet = Self.packet(opcode, &random)
                for octets in [
                    Array(packet.dropLast()), packet + [0], [opcode], packet + [UInt8](repeating: 1, count: 600),
                ] {
                    var manager = moment.manager
                    manager.receive(octets.span, at: Instant())
                    var outputs: [SecurityManager.Output] = []
                    while let output = manager.next() { outputs.append(output) }
                    let isRequest = opcode == 0x01 || opcode == 0x0B
                    let isAnswered = moment.manager.isUnderWay || isRequest
                    let comment = Comment(
                        rawValue: "\(moment.name), code \(opcode), \(octets.count) octets: \(outputs)"
                    )
                    #expect(outputs.contains(.send([0x05, 0x0A])) == isAnswered, comment)
                    #expect(
                        outputs.contains(.failed(.refused(.invalidParameters))) == moment.manager.isUnderWay,
                        comment
                    )
                    #expect(!manager.isUnderWay, comment)
                }
            }
            var manager = moment.manager
            manager.receive([UInt8]().span, at: Instant())
            #expect(manager.isUnderWay == moment.manager.isUnderWay)
        }
    }
}
