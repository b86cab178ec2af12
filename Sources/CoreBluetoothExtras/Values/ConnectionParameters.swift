import BLEHost
import BLEWire

/// How often the ends of a connection meet, and when they give each other up.
///
/// Core 6.0, Vol 6, Part B, 4.5.
public struct ConnectionParameters: Hashable, Sendable {
    /// The time between two meetings, 7.5 ms to 4 s in steps of 1.25 ms.
    public var interval: Duration
    /// How many meetings the peripheral may skip while it has nothing to say, 0 to 499.
    public var latency: Int
    /// How long nothing may be heard before the connection counts as lost, 100 ms to 32 s in steps of 10 ms.
    public var supervisionTimeout: Duration

    /// Creates parameters; nothing is checked before they are asked for.
    public init(interval: Duration, latency: Int = 0, supervisionTimeout: Duration) {
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    init?(_ details: LinkDetails) {
        guard let interval = details.interval, let latency = details.latency, let timeout = details.timeout else {
            return nil
        }
        self.init(
            interval: interval.duration,
            latency: Int(latency.wire),
            supervisionTimeout: timeout.duration
        )
    }
}

/// What a connection is to be like: the same as ``ConnectionParameters``, with room for the controller to choose.
public struct ConnectionParameterRange: Hashable, Sendable {
    /// The shortest and the longest time between two meetings, 7.5 ms to 4 s.
    public var interval: ClosedRange<Duration>
    /// How many meetings the peripheral may skip, 0 to 499.
    public var latency: Int
    /// How long nothing may be heard, 100 ms to 32 s, and longer than twice the longest time between two meetings that
    /// the peripheral attends.
    public var supervisionTimeout: Duration

    /// Creates a range; nothing is checked before it is asked for.
    public init(interval: ClosedRange<Duration>, latency: Int = 0, supervisionTimeout: Duration) {
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// The range as controllers know it, `nil` if it is not one that may be asked for.
    var wire: HCI.ConnectionParameters? {
        guard let latency = UInt16(exactly: latency).flatMap(PeripheralLatency.init(wire:)),
            let minimum = try? ConnectionInterval(noLongerThan: interval.lowerBound),
            let maximum = try? ConnectionInterval(noLongerThan: interval.upperBound),
            interval.upperBound <= .seconds(4), Duration.milliseconds(100)...(.seconds(32)) ~= supervisionTimeout
        else { return nil }
        let timeout = SupervisionTimeout(supervisionTimeout)
        guard timeout.duration > maximum.duration * 2 * (1 + Int(latency.wire)) else { return nil }
        return HCI.ConnectionParameters(minimum: minimum, maximum: maximum, latency: latency, timeout: timeout)
    }
}
