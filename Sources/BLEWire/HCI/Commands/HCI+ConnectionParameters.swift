extension HCI {
    /// The connection parameters that a host requests when it creates or updates a connection.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.12.
    package struct ConnectionParameters: Packet {
        package var minimum = ConnectionInterval.shortest
        package var maximum = ConnectionInterval.shortest
        package var latency = PeripheralLatency.none
        package var timeout = SupervisionTimeout.shortest
        package var minimumEventLength = ConnectionEventLength.any
        package var maximumEventLength = ConnectionEventLength.any

        package init() {}
        package init(
            minimum: ConnectionInterval,
            maximum: ConnectionInterval,
            latency: PeripheralLatency = .none,
            timeout: SupervisionTimeout,
            minimumEventLength: ConnectionEventLength = .any,
            maximumEventLength: ConnectionEventLength = .any
        ) {
            self.minimum = minimum
            self.maximum = maximum
            self.latency = latency
            self.timeout = timeout
            self.minimumEventLength = minimumEventLength
            self.maximumEventLength = maximumEventLength
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&minimum, "Connection Interval Min")
            try wire.field(&maximum, "Connection Interval Max")
            try wire.field(&latency, "Max Latency")
            try wire.field(&timeout, "Supervision Timeout")
            try wire.field(&minimumEventLength, "Min CE Length")
            try wire.field(&maximumEventLength, "Max CE Length")
        }
    }

    /// The role of a device on a connection; unknown values are kept.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.1.
    package struct Role: WireField, Hashable, CustomStringConvertible {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let central = Self(wire: 0)
        package static let peripheral = Self(wire: 1)

        package var description: String {
            switch self {
            case .central: "central"
            case .peripheral: "peripheral"
            default: "role 0x\(String(wire, radix: 16))"
            }
        }
    }

    /// The devices that an initiator may connect to.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.12.
    package enum InitiatorFilterPolicy: UInt8, WireField, CustomStringConvertible {
        /// Only the peer that the command names.
        case peer = 0
        /// The first device on the filter accept list from which the controller receives a connectable advertisement.
        case acceptList = 1

        package var description: String {
            switch self {
            case .peer: "peer address"
            case .acceptList: "accept list"
            }
        }
    }
}
