/// What a simulated peripheral answers to a read, a write or a subscription.
///
/// ```swift
/// machine.onWrite("FFE1") { write in
///     write.value == [1] ? .accepted.notifying([1, 80], of: "FFE2", after: .milliseconds(20)) : .error(0x80)
/// }
/// ```
public struct DeviceAnswer: Hashable, Sendable {
    enum Outcome: Hashable, Sendable {
        case value([UInt8])
        case error(UInt8)
        case silence
    }

    /// A value that is notified or indicated.
    struct Update: Hashable, Sendable {
        let value: [UInt8]
        let characteristic: String
        let delay: Duration
    }

    var outcome: Outcome
    var delay = Duration.zero
    var updates: [Update] = []

    /// This whole value, of at most 512 octets, right or wrong.
    public static func value(_ octets: [UInt8]) -> Self { Self(outcome: .value(octets)) }

    /// What was written, or that somebody subscribed, is taken.
    public static var accepted: Self { Self(outcome: .value([])) }

    /// An error of the Attribute Protocol, by its number: 0x80 to 0x9F are the profile's own.
    public static func error(_ code: UInt8) -> Self { Self(outcome: .error(code)) }

    /// No answer, ever: the central gives the peripheral up after 30 seconds.
    public static var silence: Self { Self(outcome: .silence) }

    /// The same, so much later.
    public func after(_ delay: Duration) -> Self {
        var answer = self
        answer.delay += delay
        return answer
    }

    /// The same, and then a value for those who subscribed to a characteristic.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - characteristic: The type of the characteristic.
    ///   - delay: How long after the answer.
    /// - Returns: An answer with that value.
    public func notifying(_ value: [UInt8], of characteristic: String, after delay: Duration = .zero) -> Self {
        var answer = self
        answer.updates.append(Update(value: value, characteristic: characteristic, delay: delay))
        return answer
    }
}

/// What a central does with a characteristic of a simulated peripheral.
public struct DeviceRequest: Hashable, Sendable {
    /// What is written; the value that there is for a read and a subscription.
    public let value: [UInt8]
    /// How old the world is.
    public let time: Duration
    /// How often this has been asked for before.
    public let count: Int
}
