import Testing

@testable import BLESimulation

@Suite("Running faults")
struct RunningFaultTests {
    private static let effects: [RunningFaults.Effect] = [.isolated, .switchedOff, .unplugged]

    @Test("An effect ends with the last of its faults, in any order", arguments: effects, [false, true])
    func last(effect: RunningFaults.Effect, isReversed: Bool) {
        var faults = RunningFaults()
        #expect(!faults.contains(effect))
        let numbers = (0..<3).map { _ in faults.begin(effect) }
        for (index, number) in (isReversed ? numbers.reversed() : numbers).enumerated() {
            #expect(faults.contains(effect))
            #expect(faults.end(number) == (index == 2 ? .lift(effect) : .nothing))
        }
        #expect(!faults.contains(effect))
    }

    @Test("Faults of different kinds do not end each other")
    func kinds() {
        var faults = RunningFaults()
        let numbers = Self.effects.map { faults.begin($0) }
        for (effect, number) in zip(Self.effects, numbers) {
            #expect(faults.end(number) == .lift(effect))
            #expect(!faults.contains(effect))
        }
    }

    @Test("A fault that was overridden ends nothing, not even a later one of its kind")
    func gaveWay() {
        var faults = RunningFaults()
        let first = faults.begin(.switchedOff), other = faults.begin(.isolated)
        faults.endAll(with: .switchedOff)
        #expect(!faults.contains(.switchedOff) && faults.contains(.isolated))
        let second = faults.begin(.switchedOff)
        #expect(faults.end(first) == .nothing)
        #expect(faults.contains(.switchedOff))
        #expect(faults.end(second) == .lift(.switchedOff))
        #expect(faults.end(second) == .nothing)
        #expect(faults.end(other) == .lift(.isolated))
    }
}
