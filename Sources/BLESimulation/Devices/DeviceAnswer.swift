/// The answer of a simulated peripheral to a read, a write or a subscription.
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

    /// A value to send in a notification or indication.
    struct Update: Hashable, Sendable {
        let value: [UInt8]
        let characteristic: String
        let delay: Duration
    }

    var outcome: Outcome
    var delay = Duration.zero
    var updates: [Update] = []

    /// Answers with this value of at most 512 octets.
    public static func value(_ octets: [UInt8]) -> Self { Self(outcome: .value(octets)) }

    /// Accepts the write or subscription.
    public static var accepted: Self { Self(outcome: .value([])) }

    /// Answers with an ATT error code.
    ///
    /// Codes from 0x80 to 0x9F are defined by the device's profile.
    public static func error(_ code: UInt8) -> Self { Self(outcome: .error(code)) }

    /// Never answers.
    ///
    /// After 30 seconds, the central gives up on the peripheral.
    public static var silence: Self { Self(outcome: .silence) }

    /// Returns the same answer, sent `delay` later.
    public func after(_ delay: Duration) -> Self {
        var answer = self
        answer.delay += delay
        return answer
    }

    /// Returns the same answer, followed by a value for the subscribers of a characteristic.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - characteristic: The type of the characteristic.
    ///   - delay: The time between the answer and the value.
    /// - Returns: The answer with the value added.
    public func notifying(_ value: [UInt8], of characteristic: String, after delay: Duration = .zero) -> Self {
        var answer = self
        answer.updates.append(Update(value: value, characteristic: characteristic, delay: delay))
        return answer
    }
}

/// A central's request to a characteristic of a simulated peripheral.
public struct DeviceRequest: Hashable, Sendable {
    /// The written value; for a read or subscription, the current value.
    public let value: [UInt8]
    /// The age of the world when the request arrived.
    public let time: Duration
    /// The number of earlier requests of the same kind to the same characteristic.
    public let count: Int
}
