import BLECrypto
import BLEWire
import Testing

@testable import BLEHost

@Suite("Local privacy")
struct LocalPrivacyTests {
    let resolvablePeers = (1...3).map { number in
        LocalPrivacy.ResolvablePeer(
            identity: DeviceAddress(UInt64(number), .public),
            key: Key128(wire: UInt128(number))
        )
    }
    let key = Key128(wire: 0xABCD)

    private func makeMachine(capacity: Int = 0) -> LocalPrivacy {
        var machine = LocalPrivacy(lifetime: .standard, random: SeededGenerator(seed: 1))
        machine.reset(key: key, capacity: capacity)
        return machine
    }

    /// Takes all steps, answering each as `answer` says.
    private func settle(
        _ machine: inout LocalPrivacy,
        at now: Instant = Instant(),
        _ answer: (LocalPrivacy.Step) -> HCI.Status = { _ in .success }
    ) -> [LocalPrivacy.Step] {
        var steps: [LocalPrivacy.Step] = []
        while machine.needsPause(at: now), let step = machine.step(at: now) {
            steps.append(step)
            _ = machine.answered(answer(step), at: now)
        }
        return steps
    }

    @Test("An address is used for exactly its lifetime")
    func lifetime() throws {
        var machine = makeMachine()
        #expect(machine.needsPause(at: Instant()) == true)
        #expect(settle(&machine).count == 1)
        let first = try #require(machine.address), end = Instant() + .seconds(900)
        let before = Instant() + (.seconds(900) - .nanoseconds(1))
        #expect(RandomAddress.isMade(first, with: key))
        #expect(machine.deadline == end)
        #expect(machine.needsPause(at: before) == false)
        #expect(machine.step(at: before) == nil)
        #expect(machine.needsPause(at: end) == true)
        #expect(machine.deadline == nil, "the radio is on its way to rest")
        #expect(settle(&machine, at: end).count == 1)
        #expect(machine.address != first)
    }

    @Test("While a command is pending, no other is sent and the radio is idle")
    func underWay() {
        var machine = makeMachine()
        #expect(machine.step(at: Instant()) != nil)
        #expect(machine.step(at: Instant()) == nil)
        #expect(machine.needsPause(at: Instant()) == true)
        #expect(machine.deadline == nil)
    }

    @Test("A refused address is tried again after a second, and the radio is idle until one is set")
    func refusedAddress() {
        var machine = makeMachine()
        #expect(settle(&machine) { _ in .commandDisallowed }.count == 1)
        let later = Instant() + LocalPrivacy.retryInterval
        #expect(machine.deadline == later)
        #expect(machine.needsPause(at: Instant()) == true)
        #expect(machine.step(at: Instant() + (LocalPrivacy.retryInterval - .nanoseconds(1))) == nil)
        #expect(settle(&machine, at: later).count == 1 && machine.address != nil)
        let end = later + .seconds(900)
        #expect(settle(&machine, at: end) { _ in .commandDisallowed }.count == 1)
        #expect(machine.needsPause(at: end) == false, "the old address is still of use")
    }

    @Test("Bonded peers are added to the resolving list up to its capacity, and former ones are removed")
    func list() {
        var machine = makeMachine(capacity: 2)
        machine.setResolvablePeers(resolvablePeers, revision: 1)
        let steps = settle(&machine).dropFirst()
        #expect(
            Array(steps) == [
                .lifetime(.standard), .add(resolvablePeers[0]), .add(resolvablePeers[1]),
                .setDevicePrivacyMode(resolvablePeers[0].identity),
                .setDevicePrivacyMode(resolvablePeers[1].identity), .resolve,
            ]
        )
        #expect(resolvablePeers.map { machine.resolvesAddresses(of: $0.identity) } == [true, true, false])
        machine.setResolvablePeers([resolvablePeers[2], resolvablePeers[0], resolvablePeers[1]], revision: 2)
        #expect(
            settle(&machine) == [
                .remove(resolvablePeers[1]), .add(resolvablePeers[2]),
                .setDevicePrivacyMode(resolvablePeers[2].identity),
            ]
        )
        #expect(resolvablePeers.map { machine.resolvesAddresses(of: $0.identity) } == [true, false, true])
        machine.setResolvablePeers([], revision: 3)
        #expect(settle(&machine) == [.remove(resolvablePeers[0]), .remove(resolvablePeers[2])])
    }

    @Test("Without bonded peers, the resolving list is not touched")
    func lonely() {
        var machine = makeMachine(capacity: 8)
        machine.setResolvablePeers([], revision: 1)
        #expect(settle(&machine).count == 1)
    }

    /// What the controller refuses, and which friends it knows in the end.
    static let refusals: [(@Sendable (LocalPrivacy.Step) -> HCI.Status, [Bool])] = [
        (
            {
                if case .add(let resolvablePeer) = $0, resolvablePeer.key.wire == 2 {
                    .memoryCapacityExceeded
                } else {
                    .success
                }
            },
            [true, false, false]
        ),
        (
            {
                if case .add(let resolvablePeer) = $0, resolvablePeer.key.wire == 2 {
                    .invalidCommandParameters
                } else {
                    .success
                }
            },
            [true, false, true]
        ),
        (
            {
                if case .setDevicePrivacyMode(let identity) = $0, identity.value == 2 {
                    .unknownCommand
                } else {
                    .success
                }
            },
            [true, false, true]
        ),
        ({ $0 == .resolve ? .commandDisallowed : .success }, [false, false, false]),
        ({ if case .lifetime = $0 { .unknownCommand } else { .success } }, [true, true, true]),
    ]

    @Test("The host works without what the controller refuses", arguments: refusals.indices)
    func refused(index: Int) {
        let (answer, listed) = Self.refusals[index]
        var machine = makeMachine(capacity: 3)
        machine.setResolvablePeers(resolvablePeers, revision: 1)
        #expect(settle(&machine, answer).count < 16)
        #expect(resolvablePeers.map { machine.resolvesAddresses(of: $0.identity) } == listed)
        #expect(machine.needsPause(at: Instant()) == false)
    }
}
