import BLESimulation
import CoreBluetoothExtras
import Synchronization
import Testing

@Suite("Pairing with simulated devices", .timeLimit(.minutes(30)))
struct DevicePairingTests {
    /// An agent's capability, a device, and what comes of a pairing.
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        let agent: PairingCapability?
        let device: SimulatedPeripheral.Pairing?
        /// The digits that the phone's user enters.
        var digits = "123456"
        /// The questions to the phone's user, without digits.
        var questions: [String] = []
        /// The method; `nil` if the pairing fails.
        var method: PairingMethod?

        /// Answers a question as the phone's user.
        func answer(_ prompt: PairingPrompt) {
            switch prompt.question {
            case .enter: prompt.enter(digits)
            case .consent, .compare: prompt.accept()
            case .show: break
            }
        }
    }

    static let cases = [
        Case(
            description: "The user of a keyboard enters the passkey that the phone displays",
            agent: .displayOnly,
            device: .init(.keyboard),
            questions: ["show"],
            method: .passkeyEntry
        ),
        Case(
            description: "The user of a keyboard enters a wrong passkey",
            agent: .keyboardDisplay,
            device: .init(.keyboard, passkey: 999_999),
            questions: ["show"]
        ),
        Case(
            description: "The phone's user enters the passkey of a device",
            agent: .keyboardOnly,
            device: .init(.display, passkey: 123_456),
            questions: ["enter"],
            method: .passkeyEntry
        ),
        Case(
            description: "The phone's user enters a wrong passkey",
            agent: .keyboardOnly,
            device: .init(.display, passkey: 123_457),
            questions: ["enter"]
        ),
        Case(
            description: "Both users enter the same passkey",
            agent: .keyboardOnly,
            device: .init(.keyboard, passkey: 123_456),
            questions: ["enter"],
            method: .passkeyEntry
        ),
        Case(
            description: "Both users compare numbers",
            agent: .displayYesNo,
            device: .init(.yesNo),
            questions: ["compare"],
            method: .numericComparison
        ),
        Case(
            description: "Two devices with keyboards and displays compare numbers",
            agent: .keyboardDisplay,
            device: .init(.keyboardDisplay),
            questions: ["compare"],
            method: .numericComparison
        ),
        Case(
            description: "A device without input and output asks no questions",
            agent: .keyboardDisplay,
            device: .init(.none),
            method: .justWorks
        ),
        Case(
            description: "A device that does not describe its pairing asks no questions",
            agent: .keyboardDisplay,
            device: nil,
            method: .justWorks
        ),
        Case(
            description: "The user of a device without input and output refuses",
            agent: .keyboardDisplay,
            device: .init(isRefused: true)
        ),
    ]

    @Test("The description of a device decides the questions of a pairing and its result", arguments: UInt64(0)..<16)
    func pairing(seed: UInt64) async throws {
        for one in Self.cases {
            let result = try await pair(one, seed: seed)
            #expect(result.method == one.method, "\(one)")
            #expect(result.questions == one.questions, "\(one)")
        }
    }

    @Test("A device refuses a comparison until its user accepts pairing", arguments: UInt64(0)..<16)
    func refusal(seed: UInt64) async throws {
        let refused = Case(description: "refused", agent: .displayYesNo, device: .init(.yesNo, isRefused: true))
        #expect(try await pair(refused, seed: seed).method == nil)
        let accepted = try await pair(refused, seed: seed) { $0.refusePairing(false) }
        #expect(accepted.method == .numericComparison)
    }

    /// Pairs with a device in a world of its own, and returns the questions to the phone's user and the method.
    private func pair(
        _ one: Case,
        seed: UInt64,
        _ change: (Machine) -> Void = { _ in }
    ) async throws -> (questions: [String], method: PairingMethod?) {
        let bench = PairingTests.Bench(seed: seed, loss: 0.1), type = CBUUID(string: "FFE0")
        let secret = SimulatedPeripheral.Characteristic("FFE1", [.read], value: [7], isProtected: true)
        var lamp = SimulatedPeripheral(name: "Lamp", at: .init(x: 1), services: [.init("FFE0", [secret])])
        lamp.pairing = one.device
        change(bench.world.place(lamp))
        let phone = bench.attend(bench.phone, one.agent) { one.answer($0) }
        let method: PairingMethod? = try await bench.run {
            try await bench.central.poweredOn()
            for await discovery in bench.central.discoveries(ScanFilter(services: [type])) {
                try await bench.central.connect(discovery.peripheral, timeout: .seconds(20))
                return try? await phone.pairing.pair(with: discovery.peripheral)
            }
            throw CBError(.unknown)
        }
        // The failure is reported to the phone's agent on another queue.
        let failures = method == nil ? 1 : 0
        let isHeard = await bench.world.advance(atMost: .seconds(1)) { phone.heard.failures == failures }
        #expect(isHeard, "\(one)")
        return (phone.heard.questions.map(Self.name), method)
    }

    /// A world with a phone and two keyboards, whose services are FFE0 and FFE1.
    private struct Keyboards {
        let bench: PairingTests.Bench
        private let types = [CBUUID(string: "FFE0"), CBUUID(string: "FFE1")]

        init(seed: UInt64) {
            bench = PairingTests.Bench(seed: seed)
            for (index, type) in types.enumerated() {
                let value = SimulatedPeripheral.Characteristic("FFF1", [.read], value: [7], isProtected: true)
                var keyboard = SimulatedPeripheral(
                    name: "Keyboard \(index)",
                    at: .init(x: Double(index + 1)),
                    services: [.init(type.uuidString, [value])]
                )
                keyboard.pairing = .init(.keyboard)
                bench.world.place(keyboard)
            }
        }

        /// Connects `central` to the first keyboards, one after the other.
        func connect(_ central: CBCentralManager, count: Int) async throws -> [CBPeripheral] {
            try await central.poweredOn()
            var found: [CBPeripheral] = []
            for type in types.prefix(count) {
                for await discovery in central.discoveries(ScanFilter(services: [type])) {
                    try await central.connect(discovery.peripheral, timeout: .seconds(20))
                    found.append(discovery.peripheral)
                    break
                }
            }
            return found
        }
    }

    @Test("Two keyboards that pair at the same time get their own passkeys", arguments: UInt64(0)..<16)
    func twoKeyboards(seed: UInt64) async throws {
        let keyboards = Keyboards(seed: seed), bench = keyboards.bench
        let phone = bench.attend(bench.phone, .displayOnly) { _ in }
        let methods = try await bench.run {
            let found = try await keyboards.connect(bench.central, count: 2)
            async let first = phone.pairing.pair(with: found[0])
            async let second = phone.pairing.pair(with: found[1])
            return try await [first, second]
        }
        #expect(methods == [.passkeyEntry, .passkeyEntry])
    }

    @Test("A passkey that was displayed before a restart is not entered afterwards", arguments: UInt64(0)..<16)
    func restart(seed: UInt64) async throws {
        let keyboards = Keyboards(seed: seed), bench = keyboards.bench, phone = bench.phone
        let hasRestarted = Atomic(false)
        let before = bench.attend(phone, .displayOnly) { _ in
            phone.restart()
            hasRestarted.store(true, ordering: .releasing)
        }
        let method = try await bench.run {
            let found = try await keyboards.connect(bench.central, count: 1)
            let first = Task { try await before.pairing.pair(with: found[0]) }
            while !hasRestarted.load(ordering: .acquiring) { await Task.yield() }
            first.cancel()
            let central = phone.inhabit { CBCentralManager(delegate: nil, queue: DispatchQueue(label: "again")) }
            let after = bench.attend(phone, .displayOnly) { _ in }
            let again = try await keyboards.connect(central, count: 1)
            return try await after.pairing.pair(with: again[0])
        }
        #expect(method == .passkeyEntry)
    }

    private static func name(of question: PairingPrompt.Question) -> String {
        switch question {
        case .consent: "consent"
        case .show: "show"
        case .enter: "enter"
        case .compare: "compare"
        }
    }
}
