import BLEController
import BLEWire
import Testing

@testable import BLEHost

@Suite("Pairing between two hosts")
struct PairingAirTests {
    @Test("A value refused on an unencrypted link can be read once the devices are paired", arguments: UInt64(0)..<16)
    func automatic(seed: UInt64) {
        let bench = PairingBench(seed: seed, loss: 0.2)
        bench.run()
        #expect(bench.caller.readings == [.success(Keeper.secret)])
        #expect(bench.keeperStation.remembered.last?.bond?.security == .encrypted)
        #expect(bench.callerStation.remembered.last?.bond?.security == .encrypted)
        #expect(bench.callerStation.remembered.last?.bond?.isSecureConnections == true)
    }

    static let capabilities: [SMP.IOCapability?] = [
        nil, .displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay,
    ]
    static let pairs = capabilities.flatMap { one in capabilities.map { (one, $0) } }

    /// Whether two devices can keep out who may stand in between.
    static func canAuthenticate(_ responder: SMP.IOCapability?, _ initiator: SMP.IOCapability?) -> Bool {
        PairingMethod.method(
            initiator: initiator ?? .noInputNoOutput,
            responder: responder ?? .noInputNoOutput,
            isSecureConnections: true
        ).isAuthenticated
    }

    @Test("Devices pair with the best method that their input and output capabilities allow", arguments: pairs)
    func methods(keeper: SMP.IOCapability?, caller: SMP.IOCapability?) {
        let bench = PairingBench((keeper, caller))
        bench.run()
        #expect(bench.caller.readings == [.success(Keeper.secret)])
        let expected: LinkSecurity = Self.canAuthenticate(keeper, caller) ? .authenticated : .encrypted
        #expect(bench.keeperStation.remembered.last?.bond?.security == expected)
        #expect(bench.callerStation.remembered.last?.bond?.security == expected)
    }

    @Test("A value that requires an authenticated key can be read only with one", arguments: pairs)
    func authenticated(keeper: SMP.IOCapability?, caller: SMP.IOCapability?) {
        let bench = PairingBench((keeper, caller), .readAuthenticationRequired)
        bench.run()
        let isRead = Self.canAuthenticate(keeper, caller)
        #expect(
            bench.caller.readings == [isRead ? .success(Keeper.secret) : .failure(.att(.insufficientAuthentication))]
        )
    }

    @Test("Bonded devices encrypt their next link without asking the user", arguments: UInt64(0)..<16)
    func again(seed: UInt64) {
        let bench = PairingBench(seed: seed, loss: 0.2, (.displayYesNo, .displayYesNo))
        bench.run()
        #expect(bench.caller.questions.count == 1 && bench.keeper.questions.count == 1)
        bench.reconnect()
        #expect(bench.caller.readings == [.success(Keeper.secret), .success(Keeper.secret)])
        #expect(bench.caller.questions.count == 1 && bench.keeper.questions.count == 1)
    }

    @Test("Rejecting the compared number fails the pairing, and the app receives the peer's reason")
    func rejected() {
        let bench = PairingBench((.displayYesNo, .displayYesNo))
        bench.user.agrees = false
        bench.run()
        #expect(bench.caller.readings == [.failure(.att(.insufficientAuthentication))])
        #expect(bench.callerStation.remembered.allSatisfy { $0.bond == nil })
        #expect(bench.keeperStation.remembered.allSatisfy { $0.bond == nil })
        #expect(bench.caller.failures.count == 1 && bench.keeper.failures.count == 1)
    }

    @Test("A wrong passkey fails the pairing, whichever end enters it", arguments: [true, false])
    func wrongPasskey(isTypedAtCaller: Bool) {
        let bench = PairingBench(isTypedAtCaller ? (.displayOnly, .keyboardOnly) : (.keyboardOnly, .displayOnly))
        bench.user.mistake = 1
        bench.run()
        #expect(bench.caller.readings == [.failure(.att(.insufficientAuthentication))])
        #expect(bench.keeper.methods.isEmpty && bench.caller.methods.isEmpty)
    }

    @Test("Pairing waits 30 s for an inactive user, and the app receives the failure")
    func nobodyThere() {
        let bench = PairingBench((.displayOnly, .keyboardOnly))
        bench.town.run(for: .seconds(60)) { bench.caller.awaiting != nil }
        let start = bench.town.now
        bench.town.run(for: .seconds(60)) { !bench.caller.readings.isEmpty }
        #expect(bench.caller.readings == [.failure(.encryptionTimedOut)])
        #expect(bench.town.now - start <= .seconds(31))
    }

    @Test("A pairing after which the link is never encrypted fails after 5 s", arguments: [true, false])
    func neverEncrypted(isCaller: Bool) {
        let bench = PairingBench()
        let station = isCaller ? bench.callerStation : bench.keeperStation
        station.missesEncryption = true
        bench.town.run(for: .seconds(60)) { bench.caller.peer != nil }
        let start = bench.town.now
        bench.town.run(for: .seconds(60)) { !bench.caller.endings.isEmpty }
        #expect(bench.town.now - start <= .seconds(10))
        if isCaller {
            #expect(bench.caller.readings == [.failure(.encryptionTimedOut)])
            #expect(bench.caller.endings == [.encryptionTimedOut])
        }
        #expect(station.remembered.allSatisfy { $0.bond == nil })
    }

    @Test("A central whose peripheral lost the bond receives an error, and no value is sent unencrypted")
    func forgotten() throws {
        let bench = PairingBench()
        bench.run()
        let central = try #require(bench.keeperStation.remembered.last?.identifier)
        bench.town.perform(.security(.removeBond(central)), at: bench.keeperStation)
        bench.town.run(for: .seconds(10)) { !bench.caller.endings.isEmpty }
        let peer = try #require(bench.caller.peer)
        bench.town.perform(.connect(peer, ConnectRequest()), at: bench.callerStation)
        bench.town.run(for: .seconds(10)) { bench.caller.endings.count == 2 }
        #expect(bench.caller.endings.last == .hci(.pinOrKeyMissing))
        #expect(bench.caller.readings.count == 1)
    }

    typealias Generation = SecurityManager.Configuration.SecureConnections

    @Test(
        "A central whose controller is lost at any packet keeps no bond that its peripheral does not have",
        arguments: [Generation.preferred, .off]
    )
    func lost(_ generation: Generation) {
        var configuration = Host.Configuration(identifierSecret: 9)
        configuration.pairing.secureConnections = generation
        func bench() -> PairingBench { PairingBench(keeper: configuration, caller: configuration) }
        let whole = bench()
        whole.run()
        #expect(whole.callerStation.remembered.contains { $0.bond != nil })
        var outcomes: Set<[Bool]> = []
        for packet in 0..<whole.callerStation.packetCount {
            let bench = bench()
            bench.callerStation.packetsLeft = packet
            bench.run(for: .seconds(5))
            bench.town.run(for: .seconds(5))
            let kept = [bench.callerStation, bench.keeperStation].map { $0.remembered.contains { $0.bond != nil } }
            #expect(kept != [true, false], "after \(packet) packets")
            outcomes.insert(kept)
        }
        #expect(outcomes.isSuperset(of: [[false, false], [true, true]]))
    }

    @Test("After both have removed the bond, the devices pair again")
    func anew() throws {
        let bench = PairingBench()
        bench.run()
        let central = try #require(bench.keeperStation.remembered.last?.identifier)
        let peer = try #require(bench.caller.peer)
        bench.town.perform(.security(.removeBond(central)), at: bench.keeperStation)
        bench.town.perform(.security(.removeBond(peer)), at: bench.callerStation)
        bench.town.run(for: .seconds(10)) { !bench.caller.endings.isEmpty }
        bench.town.perform(.connect(peer, ConnectRequest()), at: bench.callerStation)
        bench.run(until: 2)
        #expect(bench.caller.readings == [.success(Keeper.secret), .success(Keeper.secret)])
    }

    /// What a value asks of a link, what the devices can do, and whether who listens may find it.
    static let protections: [(AttributePermissions, SMP.IOCapability, isFound: Bool)] = [
        (.readable, .noInputNoOutput, true), (.readEncryptionRequired, .noInputNoOutput, false),
        (.readEncryptionRequired, .displayYesNo, false), (.readAuthenticationRequired, .displayYesNo, false),
    ]

    @Test(
        "Protected values never appear in clear text, however they are protected, on this link or a later one",
        arguments: protections
    )
    func listened(permissions: AttributePermissions, capability: SMP.IOCapability, isFound: Bool) {
        let bench = PairingBench(loss: 0.1, (capability, capability), permissions)
        bench.town.recordsAir = true
        bench.run()
        bench.reconnect()
        #expect(bench.caller.readings == [.success(Keeper.secret), .success(Keeper.secret)])
        let finds = bench.town.records.count { record in
            record.pdu.indices.contains { record.pdu[$0...].starts(with: Keeper.secret) }
        }
        #expect(isFound ? finds >= 2 : finds == 0)
    }
}
