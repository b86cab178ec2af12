import BLEWire

/// What a test has a simulated peripheral do in the place of what its description says.
struct DeviceBehaviour {
    /// What a central does.
    enum Occasion: Hashable { case read, write, subscription }
    typealias Closure = @Sendable (DeviceRequest) -> DeviceAnswer

    private struct Rule {
        let occasion: Occasion
        let characteristic: BluetoothUUID
        let answer: Closure
        var count = 0
    }

    private var rules: [Rule] = []
    /// Whether centrals are sent away as soon as they are connected.
    var refusesConnections = false
    /// Whether nobody is paired with.
    var refusesPairing = false
    /// Whether the bonds that are listed next are to be forgotten.
    var forgetsBonds = false

    /// Has `answer` decide from now on, in place of an earlier closure.
    mutating func set(_ occasion: Occasion, of characteristic: BluetoothUUID, _ answer: @escaping Closure) {
        rules.removeAll { $0.occasion == occasion && $0.characteristic == characteristic }
        rules.append(Rule(occasion: occasion, characteristic: characteristic, answer: answer))
    }

    /// What is answered; `nil` if the description decides.
    mutating func answer(
        _ occasion: Occasion,
        of characteristic: BluetoothUUID,
        _ value: [UInt8],
        at now: Instant
    ) -> DeviceAnswer? {
        guard
            let index = rules.firstIndex(where: { $0.occasion == occasion && $0.characteristic == characteristic })
        else { return nil }
        let request = DeviceRequest(value: value, time: now - Instant(), count: rules[index].count)
        rules[index].count += 1
        return rules[index].answer(request)
    }
}
