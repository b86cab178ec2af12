import BLEHost
import BLEWire

/// The connection parameters of a link.
///
/// Core 6.0, Vol 6, Part B, 4.5.
public struct ConnectionParameters: Hashable, Sendable {
    /// The connection interval, 7.5 ms to 4 s in steps of 1.25 ms.
    public var interval: Duration
    /// The number of connection events that the peripheral may skip while it has no data, 0 to 499.
    public var latency: Int
    /// The time without received packets after which the connection is lost, 100 ms to 32 s in steps of 10 ms.
    public var supervisionTimeout: Duration

    /// Creates parameters.
    ///
    /// The values are not checked.
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

/// The connection parameters to request, with a range of intervals from which the controller chooses.
public struct ConnectionParameterRange: Hashable, Sendable {
    /// The minimum and maximum connection interval, 7.5 ms to 4 s.
    public var interval: ClosedRange<Duration>
    /// The number of connection events that the peripheral may skip, 0 to 499.
    public var latency: Int
    /// The supervision timeout, 100 ms to 32 s.
    ///
    /// It must be longer than twice the longest time between two connection events that the peripheral does not skip.
    public var supervisionTimeout: Duration

    /// Creates a range.
    ///
    /// The values are checked when the range is requested.
    public init(interval: ClosedRange<Duration>, latency: Int = 0, supervisionTimeout: Duration) {
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// The range as a parameter of HCI commands; `nil` if a value is out of its range or the timeout is too short.
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
