import BLESimulation
import CoreBluetoothExtras
import Synchronization
import Testing

@Suite("Pairing attended by an app", .timeLimit(.minutes(30)))
struct PairingTests {
    /// A phone and a lock with a value for trusted devices, each with somebody who is asked.
    final class Bench {
        static var service: CBUUID { CBUUID(string: "FFF0") }
        let world: World
        let phone: Machine, lock: Machine
        let central: CBCentralManager
        let server: CBPeripheralManager
        private let app = LockApp()
        /// What the lock shows last.
        let shown = Shown()

        init(seed: UInt64 = 1, loss: Double = 0) {
            world = World(seed: seed, conditions: .init(loss: loss))
            let phone = world.machine("phone"), lock = world.machine("lock", at: .init(x: 2))
            central = phone.inhabit { CBCentralManager(delegate: nil, queue: DispatchQueue(label: "phone")) }
            server = lock.inhabit { [app] in CBPeripheralManager(delegate: app, queue: DispatchQueue(label: "lock")) }
            self.phone = phone
            self.lock = lock
        }

        /// Has somebody at a machine asked, who does this about each question.
        func attend(
            _ machine: Machine,
            _ capability: PairingCapability?,
            _ react: @escaping @Sendable (PairingPrompt) -> Void = { $0.accept() }
        ) -> (pairing: BluetoothPairing, heard: Heard) {
            let heard = Heard()
            let pairing = machine.inhabit {
                BluetoothPairing(capability: capability) { event in
                    heard.note(event)
                    if case .asked(let prompt) = event { react(prompt) }
                }
            }
            return (pairing, heard)
        }

        /// Lets time pass while `work` goes on.
        func run<Value>(_ work: () async throws -> Value) async rethrows -> Value {
            let clock = Task { [world] in
                while !Task.isCancelled {
                    await world.advance(by: .milliseconds(10))
                    await Task.yield()
                }
            }
            defer { clock.cancel() }
            return try await work()
        }

        /// Connects to the lock, and finds its value.
        func connect() async throws -> (peripheral: CBPeripheral, value: CBCharacteristic) {
            try await server.poweredOn()
            let value = CBMutableCharacteristic(
                type: CBUUID(string: "FFF1"),
                properties: .read,
                value: Data([42]),
                permissions: .readEncryptionRequired
            )
            let service = CBMutableService(type: Self.service, primary: true)
            service.characteristics = [value]
            server.add(service)
            server.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
            try await central.poweredOn()
            for await discovery in central.discoveries(ScanFilter(services: [Self.service])) {
                try await central.connect(discovery.peripheral, timeout: .seconds(20))
                let services = try await discovery.peripheral.findServices([Self.service])
                let found = try await discovery.peripheral.findCharacteristics(of: services[0])
                return (discovery.peripheral, found[0])
            }
            throw CBError(.unknown)
        }
    }

    private final class LockApp: NSObject, CBPeripheralManagerDelegate {
        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
    }

    /// What somebody who looks after pairing has heard.
    final class Heard: Sendable {
        private let content = Mutex<(questions: [PairingPrompt.Question], methods: [PairingMethod], failures: Int)>(
            ([], [], 0)
        )

        func note(_ event: BluetoothPairing.Event) {
            content.withLock {
                switch event {
                case .asked(let prompt): $0.questions.append(prompt.question)
                case .paired(_, let method, _): $0.methods.append(method)
                case .failed: $0.failures += 1
                case .withdrawn: break
                }
            }
        }

        var questions: [PairingPrompt.Question] { content.withLock { $0.questions } }
        var methods: [PairingMethod] { content.withLock { $0.methods } }
        var failures: Int { content.withLock { $0.failures } }
    }

    /// Six digits that one user sees and another types in.
    final class Shown: Sendable {
        private let content = Mutex<(digits: String?, prompts: [PairingPrompt])>((nil, []))

        func show(_ digits: String) {
            let prompts = content.withLock { content in
                content.digits = digits
                defer { content.prompts = [] }
                return content.prompts
            }
            for prompt in prompts { prompt.enter(digits) }
        }

        func enter(at prompt: PairingPrompt) {
            let digits = content.withLock {
                if $0.digits == nil { $0.prompts.append(prompt) }
                return $0.digits
            }
            if let digits { prompt.enter(digits) }
        }
    }

    @Test("A protected value is readable once both users have confirmed the same number", arguments: UInt64(0)..<16)
    func comparison(seed: UInt64) async throws {
        let bench = Bench(seed: seed, loss: 0.1)
        let phone = bench.attend(bench.phone, .displayYesNo), lock = bench.attend(bench.lock, .displayYesNo)
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            #expect(peripheral.connectionSecurity == .unencrypted)
            #expect(try await peripheral.value(of: value) == Data([42]))
            #expect(peripheral.connectionSecurity == .authenticated)
            let bonds = try await phone.pairing.bonds()
            #expect(bonds.map(\.identifier) == [peripheral.identifier])
            #expect(bonds.allSatisfy { $0.isAuthenticated && $0.isSecureConnections && $0.keySize == 16 })
            #expect(try await lock.pairing.bonds().count == 1)
        }
        #expect(phone.heard.methods == [.numericComparison] && lock.heard.methods == [.numericComparison])
        #expect(phone.heard.questions == lock.heard.questions && phone.heard.questions.count == 1)
    }

    @Test("The passkey shown by the lock is entered on the phone")
    func passkey() async throws {
        let bench = Bench(), shown = bench.shown
        let phone = bench.attend(bench.phone, .keyboardOnly) { shown.enter(at: $0) }
        let lock = bench.attend(bench.lock, .displayOnly) {
            if case .show(let digits) = $0.question { shown.show(digits) }
        }
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            #expect(try await peripheral.value(of: value) == Data([42]))
        }
        #expect(phone.heard.questions == [.enter] && phone.heard.methods == [.passkeyEntry])
        #expect(lock.heard.methods == [.passkeyEntry])
    }

    @Test("If a user rejects, the app receives the lock's error, and nothing is stored")
    func rejected() async throws {
        let bench = Bench()
        let phone = bench.attend(bench.phone, .displayYesNo)
        let lock = bench.attend(bench.lock, .displayYesNo) { $0.reject() }
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            let error = await #expect(throws: CBATTError.self) { _ = try await peripheral.value(of: value) }
            #expect(error?.code == .insufficientAuthentication)
            #expect(try await phone.pairing.bonds().isEmpty)
            #expect(try await lock.pairing.bonds().isEmpty)
        }
        #expect(phone.heard.failures == 1 && lock.heard.failures == 1)
    }

    @Test("Without user interaction devices still pair, but without MITM protection")
    func nobody() async throws {
        let bench = Bench(), phone = bench.attend(bench.phone, nil)
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            #expect(try await peripheral.value(of: value) == Data([42]))
            #expect(peripheral.connectionSecurity == .encrypted)
            #expect(try await phone.pairing.bonds().map(\.isAuthenticated) == [false])
        }
        #expect(phone.heard.questions.isEmpty && phone.heard.methods == [.justWorks])
    }

    @Test("After one end removed the bond, the other's app gets an error, and nothing is read unencrypted")
    func removed() async throws {
        let bench = Bench(), lock = bench.attend(bench.lock, nil)
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            _ = try await peripheral.value(of: value)
            let bond = try #require(try await lock.pairing.bonds().first)
            #expect(try await lock.pairing.removeBond(with: bond.identifier).isEmpty)
            while peripheral.state == .connected { await bench.world.advance(by: .milliseconds(10)) }
            let error = await #expect(throws: CBError.self) {
                try await bench.central.connect(peripheral, timeout: .seconds(20))
            }
            #expect(error?.code == .peerRemovedPairingInformation)
        }
    }

    @Test("An app can pair before a request requires it")
    func onDemand() async throws {
        let bench = Bench()
        let phone = bench.attend(bench.phone, .displayYesNo), lock = bench.attend(bench.lock, .displayYesNo)
        try await bench.run {
            let (peripheral, value) = try await bench.connect()
            #expect(try await phone.pairing.pair(with: peripheral) == .numericComparison)
            #expect(try await peripheral.value(of: value) == Data([42]))
        }
        #expect(phone.heard.questions.count == 1 && lock.heard.questions.count == 1)
    }

    @Test("Pairing with a disconnected peripheral fails")
    func strangers() async throws {
        let bench = Bench(), phone = bench.attend(bench.phone, .displayYesNo)
        try await bench.run {
            let (peripheral, _) = try await bench.connect()
            try await bench.central.disconnect(peripheral)
            await #expect(throws: PairingError.disconnected) { try await phone.pairing.pair(with: peripheral) }
        }
    }
}
