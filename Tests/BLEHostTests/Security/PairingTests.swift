import BLECrypto
import BLEHost
import BLEWire
import Testing

/// Two hosts pair by every method there is, and come to the same.
@Suite("Pairing")
struct PairingTests {
    /// What two hosts have, and the method that follows.
    struct Case: Sendable, CustomTestStringConvertible {
        let initiator: SMP.IOCapability
        let responder: SMP.IOCapability
        let isSecure: Bool
        let method: PairingMethod

        var testDescription: String { "\(isSecure ? "SC" : "legacy"), \(initiator) and \(responder): \(method)" }

        func configuration(_ role: LinkRole) -> SecurityManager.Configuration {
            var configuration = SecurityManager.Configuration.test(role == .central ? initiator : responder)
            configuration.secureConnections = isSecure ? .preferred : .off
            if method == .outOfBand { configuration.outOfBand = PairingTests.outOfBand(role, isSecure) }
            return configuration
        }
    }

    static let methods: [Case] = [false, true].flatMap { isSecure in
        let both: [(SMP.IOCapability, SMP.IOCapability, PairingMethod)] = [
            (.noInputNoOutput, .keyboardDisplay, .justWorks),
            (.displayOnly, .keyboardOnly, .passkeyEntry(.initiatorDisplays)),
            (.keyboardOnly, .displayYesNo, .passkeyEntry(.responderDisplays)),
            (.keyboardOnly, .keyboardOnly, .passkeyEntry(.bothInput)),
            (.noInputNoOutput, .noInputNoOutput, .outOfBand),
            (.keyboardDisplay, .displayYesNo, isSecure ? .numericComparison : .passkeyEntry(.responderDisplays)),
        ]
        return both.map { Case(initiator: $0, responder: $1, isSecure: isSecure, method: $2) }
    }

    /// What both have told each other.
    static func outOfBand(_ role: LinkRole, _ isSecure: Bool) -> SecurityManager.OutOfBandData {
        guard isSecure else { return .init(temporaryKey: Key128(wire: 0xABCD << 100 | 7)) }
        let told = [0, 1].map { index in
            let random = Key128(wire: UInt128(index) + 77)
            return SecurityManager.OutOfBandData.DeviceData(for: SecurityPair.pairs[index], random: random)
        }
        let own = role == .central ? 0 : 1
        return .init(remote: told[1 - own], local: (told[own], SecurityPair.pairs[own]))
    }

    @Test("Both ends get the same key, with the security of the method", arguments: methods, [true, false])
    func everyMethod(_ one: Case, isBonding: Bool) throws {
        var pair = SecurityPair(
            central: one.configuration(.central),
            peripheral: one.configuration(.peripheral).with { $0.isBonding = isBonding }
        )
        pair.pair()
        for role in [LinkRole.central, .peripheral] {
            let outcome = try #require(pair[role].outcome, "\(pair[role].told)")
            #expect(outcome.method == one.method)
            #expect(
                outcome.strength
                    == PairingStrength(
                        keySize: 16,
                        isAuthenticated: one.method != .justWorks,
                        isSecureConnections: one.isSecure
                    )
            )
            #expect(outcome.strength.security == (one.method == .justWorks ? .encrypted : .authenticated))
            #expect((outcome.bond != nil) == isBonding)
            #expect(pair[role].failures.isEmpty && !pair[role].manager.isUnderWay && pair[role].open == nil)
            #expect(pair[role].manager.deadline == nil)
        }
        guard isBonding else { return }
        try expectSameBonds(pair, one)
    }

    private func expectSameBonds(_ pair: SecurityPair, _ one: Case) throws {
        let central = try #require(pair.central.outcome?.bond), peripheral = try #require(pair.peripheral.outcome?.bond)
        #expect(central.identity == DeviceAddress(0xC000_0000_0002, .random))
        #expect(peripheral.identity == DeviceAddress(0xC000_0000_0001, .random))
        #expect(central.resolvingKey?.wire == 0x22 && peripheral.resolvingKey?.wire == 0x11)
        #expect(central.remoteSigning?.key.wire == 0x44 && central.localSigningKey?.wire == 0x33)
        #expect(peripheral.remoteSigning?.key.wire == 0x33 && peripheral.localSigningKey?.wire == 0x44)
        for bond in [central, peripheral] {
            #expect(bond.strength == pair.central.outcome?.strength)
            #expect(bond.isSecureConnections == one.isSecure)
        }
        let key = try #require(central.longTermKey(as: .central))
        #expect(key == peripheral.longTermKey(as: .peripheral))
        #expect(peripheral.longTermKey(as: .central) == central.longTermKey(as: .peripheral))
        #expect(key.key != .zero)
        if one.isSecure {
            #expect(key == pair.key && key.random == 0 && key.diversifier == 0)
            #expect(central.longTermKey(as: .peripheral) == key)
        } else {
            #expect(key != pair.key && key != central.longTermKey(as: .peripheral))
        }
    }

    @Test("A central pairs with a peripheral that requests more security", arguments: methods)
    func securityRequest(_ one: Case) {
        var pair = SecurityPair(central: one.configuration(.central), peripheral: one.configuration(.peripheral))
        pair.pair(from: .peripheral)
        #expect(pair.log.first?.octets.first == 0x0B)
        #expect(
            pair.central.told.first
                == .securityRequested(one.isSecure ? [.bonding, .mitm, .secureConnections] : [.bonding, .mitm])
        )
        #expect(pair.central.outcome?.method == one.method && pair.peripheral.outcome?.method == one.method)
    }

    @Test("Devices of all capabilities use the method in the table", arguments: PairingMethodTests.cells)
    func everyCell(_ cell: PairingMethodTests.Cell) {
        for isSecure in [false, true] {
            let generation: SecurityManager.Configuration.SecureConnections = isSecure ? .preferred : .off
            var pair = SecurityPair(
                central: .test(cell.initiator, generation),
                peripheral: .test(cell.responder, generation)
            )
            pair.pair()
            let expected = isSecure ? cell.secure : cell.legacy
            #expect(pair.central.outcome?.method == expected && pair.peripheral.outcome?.method == expected)
        }
    }

    @Test("Out-of-band data at one end is enough for LE Secure Connections", arguments: [true, false])
    func oneWay(isCentralTold: Bool) {
        var central = outOfBand(.central), peripheral = outOfBand(.peripheral)
        if isCentralTold { peripheral.remote = nil } else { central.remote = nil }
        if isCentralTold { central.local = nil } else { peripheral.local = nil }
        var pair = SecurityPair(
            central: .test().with { $0.outOfBand = central },
            peripheral: .test().with { $0.outOfBand = peripheral }
        )
        pair.pair()
        for role in [LinkRole.central, .peripheral] {
            #expect(pair[role].outcome?.method == .outOfBand && pair[role].outcome?.strength.security == .authenticated)
        }
    }

    private func outOfBand(_ role: LinkRole) -> SecurityManager.OutOfBandData { Self.outOfBand(role, true) }

    @Test("Keys have the largest size that both ends allow", arguments: 7...16, [false, true])
    func keySizes(size: Int, isSecure: Bool) throws {
        let central = SecurityManager.Configuration.test(.noInputNoOutput, isSecure ? .preferred : .off)
        var pair = SecurityPair(
            central: central.with { $0.leastKeySize = 7 },
            peripheral: central.with { ($0.leastKeySize, $0.greatestKeySize) = (7, size) }
        )
        pair.pair()
        let bond = try #require(pair.central.outcome?.bond)
        #expect(bond.keySize == size && pair.peripheral.outcome?.strength.keySize == size)
        for key in [pair.key, bond.longTermKey, bond.localLongTermKey ?? bond.longTermKey] {
            #expect(try #require(key).key.wire.littleEndianOctets.lastIndex { $0 != 0 } == size - 1)
        }
    }

    @Test("Keys are distributed in the specification's order, the peripheral's first", arguments: [false, true])
    func order(isSecure: Bool) {
        let configuration = SecurityManager.Configuration.test(.noInputNoOutput, isSecure ? .preferred : .off)
        var pair = SecurityPair(central: configuration, peripheral: configuration)
        pair.pair()
        let keys = pair.log.filter { (0x06...0x0A).contains($0.octets[0]) }
        let all: [UInt8] = isSecure ? [0x08, 0x09, 0x0A] : [0x06, 0x07, 0x08, 0x09, 0x0A]
        #expect(keys.map(\.octets[0]) == all + all)
        #expect(keys.map(\.from) == all.map { _ in .peripheral } + all.map { _ in .central })
    }

    @Test("Only keys that both ends list are distributed", arguments: UInt8(0)..<16, [false, true])
    func distribution(bits: UInt8, isSecure: Bool) throws {
        let wanted = SMP.KeyDistribution(rawValue: bits)
        let configuration = SecurityManager.Configuration.test(.noInputNoOutput, isSecure ? .preferred : .off)
        var pair = SecurityPair(
            central: configuration.with { $0.initiatorKeys = wanted },
            peripheral: configuration.with { $0.responderKeys = wanted }
        )
        pair.pair()
        let central = try #require(pair.central.outcome?.bond), peripheral = try #require(pair.peripheral.outcome?.bond)
        #expect((central.resolvingKey != nil) == wanted.contains(.identity))
        #expect((peripheral.resolvingKey != nil) == wanted.contains(.identity))
        #expect((central.remoteSigning != nil) == wanted.contains(.signing))
        #expect((peripheral.localSigningKey != nil) == wanted.contains(.signing))
        #expect((central.longTermKey != nil) == (isSecure || wanted.contains(.encryption)))
        if !wanted.contains(.identity) {
            #expect(central.identity == SecurityPair.peripheralAddress)
            #expect(peripheral.identity == SecurityPair.centralAddress)
        }
    }

    @Test(
        "One end may distribute keys while the other does not",
        arguments: [false, true],
        [LinkRole.central, .peripheral]
    )
    func oneSided(isSecure: Bool, giver: LinkRole) throws {
        let configuration = SecurityManager.Configuration.test(.noInputNoOutput, isSecure ? .preferred : .off).with {
            if giver == .central { $0.responderKeys = [] } else { $0.initiatorKeys = [] }
        }
        var pair = SecurityPair(central: configuration, peripheral: configuration)
        pair.pair()
        let given = try #require(pair[giver.other].outcome?.bond), own = try #require(pair[giver].outcome?.bond)
        #expect(given.resolvingKey != nil && given.remoteSigning != nil)
        #expect(own.resolvingKey == nil && own.remoteSigning == nil && own.localSigningKey != nil)
        #expect(pair.log.filter { (0x06...0x0A).contains($0.octets[0]) }.allSatisfy { $0.from == giver })
    }

    @Test("A peripheral sends one Security Request, and another only if it needs more security")
    func askingAgain() {
        var manager = SecurityPair.manager(.peripheral, .test(protection: .none)), requests: [[UInt8]] = []
        for needsMITM in [false, false, true, true, false] {
            manager.pair(needsMITM: needsMITM, at: Instant())
            while let output = manager.next() {
                if case .send(let packet) = output { requests.append(packet) }
            }
        }
        #expect(requests == [[0x0B, 0x09], [0x0B, 0x0D]])
    }

    @Test("Pairing continues if a Security Request crosses with a Pairing Request")
    func crossing() {
        var pair = SecurityPair()
        pair.central.manager.pair(needsMITM: false, at: pair.now)
        pair.peripheral.manager.pair(needsMITM: false, at: pair.now)
        pair.run()
        #expect(pair.log.prefix(2).map(\.octets[0]) == [0x01, 0x0B])
        #expect(pair.central.told.first == .note(.unexpected(.securityRequest)))
        #expect(pair.central.outcome != nil && pair.peripheral.outcome != nil)
        #expect(pair.log.filter { $0.octets[0] == 0x01 }.count == 1)
    }

    @Test("A request during a pairing is answered when the pairing ends")
    func joining() {
        var pair = SecurityPair(central: .test(.displayYesNo), peripheral: .test(.displayYesNo))
        pair.answer = { _, _, _ in nil }
        pair.pair()
        let sent = pair.log.count
        pair.pair()
        pair.pair(from: .peripheral)
        #expect(pair.log.count == sent)
        pair.answer = SecurityPair.honest
        pair.run()
        #expect(pair.central.outcome != nil && pair.central.failures.isEmpty)
    }

    @Test("A second pairing on a link replaces the first if it is stronger")
    func upgrade() {
        var pair = SecurityPair(
            central: .test(.keyboardDisplay, protection: .none),
            peripheral: .test(.displayYesNo, protection: .none)
        )
        pair.pair()
        #expect(pair.central.outcome?.method == .justWorks)
        pair.pair(needsMITM: true)
        #expect(pair.central.outcome?.method == .numericComparison)
        #expect(pair.peripheral.outcome?.strength.security == .authenticated)
        #expect(pair.central.manager.existing == pair.central.outcome?.strength)
    }

    @Test("Each pairing uses its own random numbers, and the same seed gives the same ones", arguments: UInt64(0)..<16)
    func seeds(seed: UInt64) {
        let configuration = SecurityManager.Configuration.test(.keyboardDisplay)
        let all = [seed, seed, seed + 1].map { seed in
            var pair = SecurityPair(central: configuration, peripheral: configuration, seed: seed)
            pair.pair()
            return pair
        }
        #expect(all[0].log.map(\.octets) == all[1].log.map(\.octets))
        #expect(all[0].key != nil && all[0].key == all[1].key && all[0].key != all[2].key)
    }

    @Test("Each pairing uses a new key pair unless one is given")
    func freshKeys() {
        var random = SeededGenerator(seed: 5)
        _ = random.next()
        var keys: Set<[UInt8]> = []
        var manager = SecurityManager(
            role: .central,
            local: SecurityPair.centralAddress,
            peer: SecurityPair.peripheralAddress,
            identity: .init(address: SecurityPair.centralAddress),
            configuration: .test(),
            random: random
        )
        for _ in 0..<3 {
            manager.pair(needsMITM: false, at: Instant())
            manager.receive(
                SMPPacket.pairingResponse(.plain([.bonding, .secureConnections])).encoded.span,
                at: Instant()
            )
            while let output = manager.next() {
                if case .send(let packet) = output, packet[0] == 0x0C { keys.insert(packet) }
            }
            manager.answer(.cancel, at: Instant())
        }
        #expect(keys.count == 3)
    }
}

extension SMP.PairingFeatures {
    /// What a device says that can do nothing.
    static func plain(
        _ authentication: SMP.AuthenticationRequirements,
        keySize: UInt8 = 16,
        keys: (initiator: SMP.KeyDistribution, responder: SMP.KeyDistribution) = ([], [])
    ) -> Self {
        var features = Self()
        features.ioCapability = .noInputNoOutput
        features.authentication = authentication
        features.greatestKeySize = keySize
        (features.initiatorKeys, features.responderKeys) = keys
        return features
    }
}
