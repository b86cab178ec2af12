import BLEHost
import BLERuntime
import BLEWire
import CoreBluetoothExtras
import Testing

@testable import BLESimulation

/// Core 6.0, Vol 3, Part C, 10.2.4; Part H, 2.3.5.6.4.
@Suite("Out-of-band data and pairing policies", .timeLimit(.minutes(30)))
struct PairingPolicyTests {
    typealias Bench = PairingTests.Bench
    typealias PairingPolicy = CoreBluetoothExtras.PairingPolicy

    @Test("Devices pair with out-of-band data if either has the other's", arguments: UInt64(0)..<16)
    func outOfBand(seed: UInt64) async throws {
        let bench = Bench(seed: seed, loss: 0.1)
        let phone = bench.attend(bench.phone, nil), lock = bench.attend(bench.lock, nil)
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            let told = try await lock.pairing.makeOutOfBandData()
            let data: OutOfBandData = try #require(OutOfBandData(structures: told.structures))
            phone.pairing.use(data, from: peripheral)
            #expect(try await peripheral.value(of: value) == Data([42]))
            #expect(peripheral.connectionSecurity == .authenticated)
            #expect(try await phone.pairing.bonds().allSatisfy { $0.isAuthenticated && $0.isSecureConnections })
        }
        #expect(phone.heard.methods == [.outOfBand] && lock.heard.methods == [.outOfBand])
    }

    @Test("Another device's out-of-band data or outdated data fails the pairing")
    func wrongData() async throws {
        let bench = Bench(), phone = bench.attend(bench.phone, nil), lock = bench.attend(bench.lock, nil)
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            let old = try await lock.pairing.makeOutOfBandData(), new = try await lock.pairing.makeOutOfBandData()
            #expect(old != new)
            phone.pairing.use(old, from: peripheral)
            await #expect(throws: CBATTError.self) { _ = try await peripheral.value(of: value) }
            #expect(try await phone.pairing.bonds().isEmpty)
            #expect(try await lock.pairing.bonds().isEmpty)
        }
        #expect(phone.heard.methods.isEmpty && lock.heard.methods.isEmpty)
    }

    @Test("Out-of-band data is valid for one pairing")
    func once() async throws {
        let bench = Bench(), phone = bench.attend(bench.phone, nil), lock = bench.attend(bench.lock, nil)
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            let told = try await lock.pairing.makeOutOfBandData()
            phone.pairing.use(told, from: peripheral)
            _ = try await peripheral.value(of: value)
            for end in [phone, lock] {
                let bond = try #require(try await end.pairing.bonds().first)
                try await end.pairing.removeBond(with: bond.identifier)
            }
            while peripheral.state == .connected { await bench.world.advance(by: .milliseconds(10)) }
            try await bench.central.connect(peripheral, timeout: .seconds(20))
            phone.pairing.use(told, from: peripheral)
            await #expect(throws: PairingError.self) { try await phone.pairing.pair(with: peripheral) }
        }
        #expect(phone.heard.methods == [.outOfBand])
    }

    @Test("Devices that share a key out of band use it for legacy pairing", arguments: UInt64(0)..<16)
    func temporaryKey(seed: UInt64) async throws {
        let bench = Bench(seed: seed, loss: 0.1)
        let phone = bench.attend(bench.phone, nil), lock = bench.attend(bench.lock, nil)
        let key = TemporaryKey.random()
        lock.pairing.use(key)
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            phone.pairing.use(TemporaryKey(structures: key.structures), with: peripheral)
            #expect(try await peripheral.value(of: value) == Data([42]))
            #expect(peripheral.connectionSecurity == .authenticated)
            #expect(try await phone.pairing.bonds().allSatisfy { $0.isAuthenticated && !$0.isSecureConnections })
        }
        #expect(phone.heard.methods == [.outOfBand] && lock.heard.methods == [.outOfBand])
    }

    /// What the phone knows, and what the lock does.
    static let strangers: [(phone: UInt8?, lock: UInt8?)] = [(1, 2), (1, nil), (nil, 1)]

    @Test("Devices without the same out-of-band key do not pair with it", arguments: strangers)
    func otherKey(phoneKey: UInt8?, lockKey: UInt8?) async throws {
        let bench = Bench(), phone = bench.attend(bench.phone, nil), lock = bench.attend(bench.lock, nil)
        func key(_ octet: UInt8?) -> TemporaryKey? { octet.flatMap { TemporaryKey(Data(repeating: $0, count: 16)) } }
        lock.pairing.use(key(lockKey))
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            phone.pairing.use(key(phoneKey), with: peripheral)
            _ = try? await peripheral.value(of: value)
            #expect(peripheral.connectionSecurity != .authenticated)
        }
        #expect(!phone.heard.methods.contains(.outOfBand) && !lock.heard.methods.contains(.outOfBand))
    }

    @Test("Out-of-band data that is missing or too short is invalid", arguments: [0, 15, 17, 35])
    func malformed(count: Int) throws {
        let octets = Data(repeating: 1, count: count)
        #expect(OutOfBandData(confirmation: octets, random: octets) == nil)
        #expect(TemporaryKey(octets) == nil && TemporaryKey(structures: octets) == nil)
        let whole = try #require(
            OutOfBandData(confirmation: Data((0..<16).map { UInt8($0) }), random: Data(repeating: 7, count: 16))
        )
        #expect(whole.structures.count == 36 && OutOfBandData(structures: whole.structures) == whole)
        #expect(OutOfBandData(structures: whole.structures.prefix(count)) == nil)
    }

    /// What the phone can do at most, what the lock insists on, and whether they are paired.
    static let policies: [(PairingOffer, PairingPolicy, isPaired: Bool)] = [
        (.legacy, .init(), true), (.legacy, .init(requiresSecureConnections: true), false),
        (.whole, .init(requiresSecureConnections: true, minimumKeySize: 16), true),
        (.short, .init(minimumKeySize: 7), true), (.short, .init(minimumKeySize: 8), false),
        (.short, .init(minimumKeySize: 1_000), false), (.whole, .init(minimumKeySize: 1_000), true),
    ]

    enum PairingOffer: Sendable {
        case whole, legacy, short

        var configuration: SecurityManager.Configuration {
            var configuration = SecurityManager.Configuration()
            switch self {
            case .whole: break
            case .legacy: configuration.secureConnections = .off
            case .short: configuration.greatestKeySize = 7
            }
            return configuration
        }
    }

    @Test("A device that cannot meet the lock's policy is not paired", arguments: policies)
    func policy(offer: PairingOffer, policy: PairingPolicy, isPaired: Bool) async throws {
        let bench = Bench(), lock = bench.attend(bench.lock, nil)
        bench.phone.pair(by: offer.configuration)
        lock.pairing.insist(on: policy)
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            if isPaired {
                #expect(try await peripheral.value(of: value) == Data([42]))
            } else {
                await #expect(throws: CBATTError.self) { _ = try await peripheral.value(of: value) }
            }
            while lock.heard.methods.isEmpty, lock.heard.failures == 0 {
                await bench.world.advance(by: .milliseconds(10))
            }
            #expect(try await lock.pairing.bonds().isEmpty != isPaired)
        }
    }

    @Test("A bond that no longer meets the policy cannot be used until the policy is lifted")
    func laterPolicy() async throws {
        let bench = Bench(), phone = bench.attend(bench.phone, nil), lock = bench.attend(bench.lock, nil)
        bench.phone.pair(by: PairingOffer.legacy.configuration)
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            #expect(try await peripheral.value(of: value) == Data([42]))
            try await bench.central.disconnect(peripheral)
            lock.pairing.insist(on: .init(requiresSecureConnections: true))
            #expect(await Self.isTrusted(peripheral, bench) == false)
            #expect(try await lock.pairing.bonds().count == 1)
            lock.pairing.insist(on: .init())
            #expect(await Self.isTrusted(peripheral, bench))
        }
        #expect(phone.heard.methods.count == 1)
    }

    @Test("If either end keeps no bonds, a pairing lasts for one connection", arguments: [true, false])
    func noBonds(phoneKeeps: Bool) async throws {
        let bench = Bench(), phone = bench.attend(bench.phone, nil), lock = bench.attend(bench.lock, nil)
        let forgetful = phoneKeeps ? lock : phone
        forgetful.pairing.insist(on: .init(keepsBonds: false))
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            #expect(try await peripheral.value(of: value) == Data([42]))
            #expect(peripheral.connectionSecurity == .encrypted)
            for end in [phone, lock] { #expect(try await end.pairing.bonds().isEmpty) }
            for isBonding in [false, true] {
                try await bench.central.disconnect(peripheral)
                forgetful.pairing.insist(on: .init(keepsBonds: isBonding))
                try await bench.central.connect(peripheral, timeout: .seconds(20))
                #expect(peripheral.connectionSecurity == .unencrypted)
                let service = try #require(try await peripheral.findServices([Bench.service]).first)
                let value = try #require(try await peripheral.findCharacteristics(of: service).first)
                #expect(try await peripheral.value(of: value) == Data([42]))
                for end in [phone, lock] { #expect(try await end.pairing.bonds().isEmpty != isBonding) }
            }
        }
        #expect(phone.heard.methods.count == 3 && lock.heard.methods.count == 3)
    }

    /// Whether the phone gets at the services of the lock, on a connection that is encrypted.
    private static func isTrusted(_ peripheral: CBPeripheral, _ bench: Bench) async -> Bool {
        do {
            try await bench.central.connect(peripheral, timeout: .seconds(20))
            let services = try await peripheral.findServices([Bench.service])
            return services.count == 1 && peripheral.connectionSecurity == .encrypted
        } catch {
            return false
        }
    }
}

extension Machine {
    /// Has a machine that has done nothing yet pair in this way.
    fileprivate func pair(by pairing: SecurityManager.Configuration) {
        world.core.withLock { core in
            let configuration = Host.Configuration(name: name, identifierSecret: 7, pairing: pairing)
            core.stations[index].host = Host(configuration: configuration, random: SeededGenerator(seed: 7))
            core.stations[index].host.transportOpened(at: core.now)
        }
    }
}
