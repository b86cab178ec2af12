extension Signal {
    /// The number of channels that one request can open or change.
    ///
    /// Core 6.0, Vol 3, Part A, 4.25.
    package static let channelsPerRequest = 1...5

    /// A request to open up to five credit-based channels.
    ///
    /// Core 6.0, Vol 3, Part A, 4.25.
    package struct CreditBasedConnectionRequest: Packet {
        package var spsm: SPSM
        /// The largest SDU that the sender of this request can receive, in octets, at least 64.
        package var mtu: UInt16
        /// The largest PDU payload that the sender of this request can receive, in octets, 64 to 65533.
        package var mps: UInt16
        /// The number of packets that the receiver of this request may send on each channel.
        package var credits: UInt16
        /// One to five channels of the sender.
        package private(set) var sources: [ChannelIdentifier]

        package init() { (spsm, mtu, mps, credits, sources) = (SPSM(wire: 0), 0, 0, 0, []) }

        package init(spsm: SPSM, mtu: UInt16, mps: UInt16, credits: UInt16, sources: [ChannelIdentifier]) {
            precondition(channelsPerRequest.contains(sources.count), "a request must be for one to five channels")
            self.spsm = spsm
            self.mtu = mtu
            self.mps = mps
            self.credits = credits
            self.sources = sources
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&spsm, "SPSM")
            try wire.integer(&mtu, "MTU")
            try wire.integer(&mps, "MPS")
            try wire.integer(&credits, "Initial Credits")
            try wire.fields(&sources, blank: .none, "Source CID")
            guard channelsPerRequest.contains(sources.count) else { throw .reserved(field: "Source CID") }
        }
    }

    /// The response to a request to open up to five credit-based channels.
    ///
    /// Core 6.0, Vol 3, Part A, 4.26.
    package struct CreditBasedConnectionResponse: Packet {
        /// The largest SDU that the responder can receive, in octets.
        package var mtu: UInt16
        /// The largest PDU payload that the responder can receive, in octets.
        package var mps: UInt16
        /// The number of packets that the requester may send on each channel.
        package var credits: UInt16
        package var result: ConnectionResult
        /// Up to five channels of the responder, in the order of the request; ``ChannelIdentifier/none`` for each
        /// refused channel.
        package private(set) var destinations: [ChannelIdentifier]

        package init() { (mtu, mps, credits, result, destinations) = (0, 0, 0, .success, []) }

        package init(
            mtu: UInt16,
            mps: UInt16,
            credits: UInt16,
            result: ConnectionResult,
            destinations: [ChannelIdentifier]
        ) {
            precondition(
                destinations.count <= channelsPerRequest.upperBound,
                "a response must be for at most five channels"
            )
            self.mtu = mtu
            self.mps = mps
            self.credits = credits
            self.result = result
            self.destinations = destinations
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&mtu, "MTU")
            try wire.integer(&mps, "MPS")
            try wire.integer(&credits, "Initial Credits")
            try wire.field(&result, "Result")
            try wire.fields(&destinations, blank: .none, "Destination CID")
            guard destinations.count <= channelsPerRequest.upperBound else {
                throw .reserved(field: "Destination CID")
            }
        }
    }

    /// A request to change the MTU and MPS with which the sender receives on some of its channels.
    ///
    /// Core 6.0, Vol 3, Part A, 4.27.
    package struct CreditBasedReconfigureRequest: Packet {
        package var mtu: UInt16
        package var mps: UInt16
        /// One to five channels of the sender.
        package private(set) var channels: [ChannelIdentifier]

        package init() { (mtu, mps, channels) = (0, 0, []) }
        package init(mtu: UInt16, mps: UInt16, channels: [ChannelIdentifier]) {
            precondition(channelsPerRequest.contains(channels.count), "a request must be for one to five channels")
            self.mtu = mtu
            self.mps = mps
            self.channels = channels
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&mtu, "MTU")
            try wire.integer(&mps, "MPS")
            try wire.fields(&channels, blank: .none, "Destination CID")
            guard channelsPerRequest.contains(channels.count) else { throw .reserved(field: "Destination CID") }
        }
    }

    /// The response to a request to change the MTU and MPS of channels.
    ///
    /// Core 6.0, Vol 3, Part A, 4.28.
    package struct CreditBasedReconfigureResponse: Packet {
        package struct Result: WireField, Hashable, CustomStringConvertible {
            package let wire: UInt16
            package init(wire: UInt16) { self.wire = wire }

            package static let success = Self(wire: 0x0000)
            package static let mtuReduced = Self(wire: 0x0001)
            package static let mpsReduced = Self(wire: 0x0002)
            package static let invalidDestination = Self(wire: 0x0003)
            package static let unacceptableParameters = Self(wire: 0x0004)

            package var description: String {
                switch self {
                case .success: "successful"
                case .mtuReduced: "reducing the MTU is not allowed"
                case .mpsReduced: "reducing the MPS of several channels is not allowed"
                case .invalidDestination: "invalid Destination CID"
                case .unacceptableParameters: "unacceptable parameters"
                default: "result 0x\(String(wire, radix: 16))"
                }
            }
        }

        package var result: Result

        package init() { self.init(.success) }
        package init(_ result: Result) { self.result = result }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&result, "Result")
        }
    }
}
