extension Signal {
    /// The response to a signalling packet that its receiver cannot process.
    ///
    /// Core 6.0, Vol 3, Part A, 4.1.
    package struct CommandReject: Packet {
        /// The reason for a rejection.
        package struct Reason: WireField, Hashable, CustomStringConvertible {
            package let wire: UInt16
            package init(wire: UInt16) { self.wire = wire }

            package static let notUnderstood = Self(wire: 0x0000)
            package static let signalingMTUExceeded = Self(wire: 0x0001)
            package static let invalidChannel = Self(wire: 0x0002)

            package var description: String {
                switch self {
                case .notUnderstood: "Command not understood"
                case .signalingMTUExceeded: "Signaling MTU exceeded"
                case .invalidChannel: "Invalid CID in request"
                default: "Reason 0x\(String(wire, radix: 16))"
                }
            }
        }

        package var reason: Reason
        /// The additional data for the reason: empty, the MTU, or the identifiers of both ends of the channel.
        package var data: [UInt8]

        package init() { self.init(reason: .notUnderstood, data: []) }
        package init(reason: Reason, data: [UInt8]) {
            self.reason = reason
            self.data = data
        }

        /// The rejection of a command with an unknown code.
        package static let notUnderstood = Self()

        /// Returns the rejection of a command that is longer than `mtu`, the MTU of the signalling channel, in octets.
        package static func mtuExceeded(mtu: UInt16) -> Self {
            Self(reason: .signalingMTUExceeded, data: mtu.littleEndianOctets)
        }

        /// Returns the rejection of a command about a channel that does not exist.
        ///
        /// `local` is the channel's end at the sender of the rejection, `remote` its end at the receiver.
        package static func invalidChannel(local: ChannelIdentifier, remote: ChannelIdentifier) -> Self {
            Self(reason: .invalidChannel, data: local.wire.littleEndianOctets + remote.wire.littleEndianOctets)
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&reason, "Reason")
            try wire.rest(&data, "Reason Data")
        }
    }

    /// A peripheral's request for new connection parameters.
    ///
    /// Values that are out of range are kept, because a central must respond even to such a request.
    ///
    /// Core 6.0, Vol 3, Part A, 4.20.
    package struct ConnectionParameterUpdateRequest: Packet {
        /// The minimum connection interval, in units of 1.25 ms.
        package var intervalMin: UInt16
        /// The maximum connection interval, in units of 1.25 ms.
        package var intervalMax: UInt16
        /// The number of connection events that the peripheral may skip.
        package var latency: UInt16
        /// The supervision timeout, in units of 10 ms.
        package var timeout: UInt16

        package init() { self.init(intervalMin: 0, intervalMax: 0, latency: 0, timeout: 0) }
        package init(intervalMin: UInt16, intervalMax: UInt16, latency: UInt16, timeout: UInt16) {
            self.intervalMin = intervalMin
            self.intervalMax = intervalMax
            self.latency = latency
            self.timeout = timeout
        }

        /// The range of requested connection intervals; `nil` if a bound is invalid or the minimum is greater than the
        /// maximum.
        package var intervals: ClosedRange<ConnectionInterval>? {
            guard let min = ConnectionInterval(wire: intervalMin), let max = ConnectionInterval(wire: intervalMax),
                min <= max
            else { return nil }
            return min...max
        }

        /// True if all values are in range and the supervision timeout is long enough for the interval and the latency.
        ///
        /// Core 6.0, Vol 6, Part B, 4.5.2.
        package var isAllowed: Bool {
            intervals != nil && latency <= 499 && 0x000A...0x0C80 ~= timeout
                && Int(timeout) * 10_000 > (1 + Int(latency)) * Int(intervalMax) * 1_250 * 2
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&intervalMin, "Interval Min")
            try wire.integer(&intervalMax, "Interval Max")
            try wire.integer(&latency, "Latency")
            try wire.integer(&timeout, "Timeout")
        }
    }

    /// The central's response, which accepts or rejects the requested parameters.
    ///
    /// Core 6.0, Vol 3, Part A, 4.21.
    package struct ConnectionParameterUpdateResponse: Packet {
        package enum Result: UInt16, WireField, CustomStringConvertible {
            case accepted = 0, rejected = 1

            package init?(wire: UInt16) { self.init(rawValue: wire) }
            package var wire: UInt16 { rawValue }
            package var description: String { self == .accepted ? "accepted" : "rejected" }
        }

        package var result: Result

        package init() { self.init(.accepted) }
        package init(_ result: Result) { self.result = result }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&result, "Result")
        }
    }
}
