import BLEWire

extension HCI.ConnectionParameters {
    /// The preferred connection interval of a link.
    enum IntervalPreference {
        /// The interval with which a central begins a link: 7.5 ms.
        case fastStart
        /// The interval that a central requests: 15 ms to 30 ms.
        case central
        /// The interval that a peripheral requests for an app: 15 ms to 30 ms, 60 ms to 90 ms, or 300 ms to 400 ms.
        case peripheral(ConnectionLatency)

        fileprivate var intervals: (UInt16, UInt16) {
            switch self {
            case .fastStart: (6, 6)
            case .central, .peripheral(.low): (12, 24)
            case .peripheral(.medium): (48, 72)
            case .peripheral(.high): (240, 320)
            }
        }
    }

    /// Creates parameters for a link without peripheral latency.
    init(_ pace: IntervalPreference, timeout: SupervisionTimeout) {
        let (shortest, longest) = pace.intervals
        guard let minimum = ConnectionInterval(wire: shortest), let maximum = ConnectionInterval(wire: longest) else {
            preconditionFailure("the connection intervals of this host must be in range")
        }
        self.init(minimum: minimum, maximum: maximum, timeout: timeout)
    }

    /// The minimum supervision timeout for this host's links.
    ///
    /// A shorter timeout would end links because of a brief disturbance.
    static let leastTimeout = SupervisionTimeout(.milliseconds(720))

    /// Creates the parameters that a peer requests, with a sufficient supervision timeout; returns `nil` if the
    /// parameters are invalid.
    ///
    /// Core 6.0, Vol 6, Part B, 4.5.2.
    init?(minimum: UInt16, maximum: UInt16, latency: UInt16, timeout: UInt16) {
        guard let minimum = ConnectionInterval(wire: minimum), let maximum = ConnectionInterval(wire: maximum),
            minimum <= maximum, let latency = PeripheralLatency(wire: latency),
            let timeout = SupervisionTimeout(wire: timeout),
            timeout.duration > maximum.duration * 2 * (1 + Int(latency.wire))
        else { return nil }
        self.init(
            minimum: minimum,
            maximum: maximum,
            latency: latency,
            timeout: max(timeout, Self.leastTimeout)
        )
    }
}
