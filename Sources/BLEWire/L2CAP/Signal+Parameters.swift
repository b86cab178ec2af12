extension Signal {
    /// Refuses a command without doing anything about it.
    ///
    /// Core 6.0, Vol 3, Part A, 4.1.
    package struct CommandReject: Packet {
        /// Why a command was refused.
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
        /// What the reason calls for: nothing, the MTU, or the two ends of the channel in question.
        package var data: [UInt8]

        package init() { self.init(reason: .notUnderstood, data: []) }
        package init(reason: Reason, data: [UInt8]) {
            self.reason = reason
            self.data = data
        }

        /// The command is none that this end knows.
        package static let notUnderstood = Self()

        /// The command is longer than `mtu`, the most that this end takes on the signalling channel.
        package static func mtuExceeded(mtu: UInt16) -> Self {
            Self(reason: .signalingMTUExceeded, data: mtu.littleEndianOctets)
        }

        /// The command names a channel that there is not; `local` and `remote` as seen by who rejects it.
        package static func invalidChannel(local: ChannelIdentifier, remote: ChannelIdentifier) -> Self {
            Self(reason: .invalidChannel, data: local.wire.littleEndianOctets + remote.wire.littleEndianOctets)
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&reason, "Reason")
            try wire.rest(&data, "Reason Data")
        }
    }

    /// A peripheral asks the central for other connection parameters.
    ///
    /// A central must answer values that are out of range, so they are kept as they came.
    ///
    /// Core 6.0, Vol 3, Part A, 4.20.
    package struct ConnectionParameterUpdateRequest: Packet {
        /// In units of 1.25 ms.
        package var intervalMin: UInt16
        /// In units of 1.25 ms.
        package var intervalMax: UInt16
        /// How many connection events the peripheral may sleep through.
        package var latency: UInt16
        /// In units of 10 ms.
        package var timeout: UInt16

        package init() { self.init(intervalMin: 0, intervalMax: 0, latency: 0, timeout: 0) }
        package init(intervalMin: UInt16, intervalMax: UInt16, latency: UInt16, timeout: UInt16) {
            self.intervalMin = intervalMin
            self.intervalMax = intervalMax
            self.latency = latency
            self.timeout = timeout
        }

        /// The intervals that the peripheral would have, or `nil` if it asks for some that there are not.
        package var intervals: ClosedRange<ConnectionInterval>? {
            guard let min = ConnectionInterval(wire: intervalMin), let max = ConnectionInterval(wire: intervalMax),
                min <= max
            else { return nil }
            return min...max
        }

        /// Whether each value is in its range, and a link of theirs survives two missed wake-ups of the peripheral.
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

    /// The central says whether it takes the parameters that the peripheral asked for.
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
