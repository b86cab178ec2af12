import BLEWire

/// The behaviour that a test sets for a simulated peripheral, overriding its description.
struct DeviceBehaviour {
    /// The kind of request that a closure answers.
    enum Occasion: Hashable { case read, write, subscription }
    typealias Closure = @Sendable (DeviceRequest) -> DeviceAnswer

    private struct Rule {
        let occasion: Occasion
        let characteristic: BluetoothUUID
        let answer: Closure
        var count = 0
    }

    private var rules: [Rule] = []
    /// True to disconnect centrals as soon as they are connected.
    var refusesConnections = false
    /// True to refuse pairing.
    var refusesPairing = false
    /// True to remove all bonds as soon as the host has listed them.
    var forgetsBonds = false

    /// Sets the closure that answers one kind of request to the characteristics of a type.
    ///
    /// - Returns: The closure that it replaces; `nil` if there was none.
    mutating func set(
        _ occasion: Occasion,
        of characteristic: BluetoothUUID,
        _ answer: @escaping Closure
    ) -> Closure? {
        let new = Rule(occasion: occasion, characteristic: characteristic, answer: answer)
        guard let index = index(occasion, of: characteristic) else {
            rules.append(new)
            return nil
        }
        defer { rules[index] = new }
        return rules[index].answer
    }

    /// Returns the answer from the test's closure; `nil` if the test has set no closure, so that the device's
    /// description decides.
    mutating func answer(
        _ occasion: Occasion,
        of characteristic: BluetoothUUID,
        _ value: [UInt8],
        at now: Instant
    ) -> DeviceAnswer? {
        guard let index = index(occasion, of: characteristic) else { return nil }
        let request = DeviceRequest(value: value, time: now - Instant(), count: rules[index].count)
        rules[index].count += 1
        return rules[index].answer(request)
    }

    private func index(_ occasion: Occasion, of characteristic: BluetoothUUID) -> Int? {
        rules.firstIndex { $0.occasion == occasion && $0.characteristic == characteristic }
    }
}
