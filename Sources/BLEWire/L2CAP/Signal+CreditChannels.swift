extension Signal {
    /// A request to open one credit-based channel.
    ///
    /// Core 6.0, Vol 3, Part A, 4.22.
    package struct LECreditBasedConnectionRequest: Packet {
        package var spsm: SPSM
        /// The sender's channel.
        package var source: ChannelIdentifier
        /// The largest SDU that the sender of this request can receive, in octets, at least 23.
        package var mtu: UInt16
        /// The largest PDU payload that the sender of this request can receive, in octets, 23 to 65533.
        package var mps: UInt16
        /// The number of packets that the receiver of this request may send.
        package var credits: UInt16

        package init() { self.init(spsm: SPSM(wire: 0), source: .none, mtu: 0, mps: 0, credits: 0) }
        package init(spsm: SPSM, source: ChannelIdentifier, mtu: UInt16, mps: UInt16, credits: UInt16) {
            self.spsm = spsm
            self.source = source
            self.mtu = mtu
            self.mps = mps
            self.credits = credits
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&spsm, "SPSM")
            try wire.field(&source, "Source CID")
            try wire.integer(&mtu, "MTU")
            try wire.integer(&mps, "MPS")
            try wire.integer(&credits, "Initial Credits")
        }
    }

    /// The response to a request to open one credit-based channel.
    ///
    /// If the channel is refused, all fields except `result` are zero.
    ///
    /// Core 6.0, Vol 3, Part A, 4.23.
    package struct LECreditBasedConnectionResponse: Packet {
        /// The responder's channel.
        package var destination: ChannelIdentifier
        /// The largest SDU that the responder can receive, in octets.
        package var mtu: UInt16
        /// The largest PDU payload that the responder can receive, in octets.
        package var mps: UInt16
        /// The number of packets that the requester may send.
        package var credits: UInt16
        package var result: ConnectionResult

        package init() { self.init(refusing: .success) }

        package init(destination: ChannelIdentifier, mtu: UInt16, mps: UInt16, credits: UInt16) {
            self.destination = destination
            self.mtu = mtu
            self.mps = mps
            self.credits = credits
            result = .success
        }

        /// Creates a response that refuses the channel.
        package init(refusing result: ConnectionResult) {
            destination = .none
            (mtu, mps, credits) = (0, 0, 0)
            self.result = result
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&destination, "Destination CID")
            try wire.integer(&mtu, "MTU")
            try wire.integer(&mps, "MPS")
            try wire.integer(&credits, "Initial Credits")
            try wire.field(&result, "Result")
        }
    }

    /// Additional credits, which allow the receiver of this packet to send more packets on a channel.
    ///
    /// Core 6.0, Vol 3, Part A, 4.24.
    package struct FlowControlCredit: Packet {
        /// The sender's channel.
        package var channel: ChannelIdentifier
        /// The number of additional credits, 1 to 65535; a peer that sends zero violates the specification.
        package var credits: UInt16

        package init() { self.init(channel: .none, credits: 0) }
        package init(channel: ChannelIdentifier, credits: UInt16) {
            self.channel = channel
            self.credits = credits
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&channel, "CID")
            try wire.integer(&credits, "Credits")
        }
    }

    /// A request to close a channel.
    ///
    /// Core 6.0, Vol 3, Part A, 4.6.
    package struct DisconnectionRequest: Packet {
        /// The receiver's channel.
        package var destination: ChannelIdentifier
        /// The sender's channel.
        package var source: ChannelIdentifier

        package init() { self.init(destination: .none, source: .none) }
        package init(destination: ChannelIdentifier, source: ChannelIdentifier) {
            self.destination = destination
            self.source = source
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&destination, "Destination CID")
            try wire.field(&source, "Source CID")
        }
    }

    /// The response to a request to close a channel, with the same two identifiers.
    ///
    /// Core 6.0, Vol 3, Part A, 4.7.
    package struct DisconnectionResponse: Packet {
        /// The responder's channel.
        package var destination: ChannelIdentifier
        /// The requester's channel.
        package var source: ChannelIdentifier

        package init() { self.init(destination: .none, source: .none) }
        package init(destination: ChannelIdentifier, source: ChannelIdentifier) {
            self.destination = destination
            self.source = source
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&destination, "Destination CID")
            try wire.field(&source, "Source CID")
        }
    }

    /// The result of a request to open credit-based channels.
    ///
    /// Core 6.0, Vol 3, Part A, 4.23 and 4.26.
    package struct ConnectionResult: WireField, Hashable {
        package let wire: UInt16
        package init(wire: UInt16) { self.wire = wire }

        package static let success = Self(wire: 0x0000)
        package static let spsmNotSupported = Self(wire: 0x0002)
        package static let insufficientResources = Self(wire: 0x0004)
        package static let insufficientAuthentication = Self(wire: 0x0005)
        package static let insufficientAuthorization = Self(wire: 0x0006)
        package static let encryptionKeySizeTooShort = Self(wire: 0x0007)
        package static let insufficientEncryption = Self(wire: 0x0008)
        package static let invalidSource = Self(wire: 0x0009)
        package static let sourceAlreadyAllocated = Self(wire: 0x000A)
        package static let unacceptableParameters = Self(wire: 0x000B)
        package static let invalidParameters = Self(wire: 0x000C)
        package static let pending = Self(wire: 0x000D)
        package static let authenticationPending = Self(wire: 0x000E)
        package static let authorizationPending = Self(wire: 0x000F)
    }
}

extension Signal.ConnectionResult: CustomStringConvertible {
    package var description: String {
        switch self {
        case .success: "successful"
        case .spsmNotSupported: "SPSM not supported"
        case .insufficientResources: "insufficient resources"
        case .insufficientAuthentication: "insufficient authentication"
        case .insufficientAuthorization: "insufficient authorization"
        case .encryptionKeySizeTooShort: "encryption key size too short"
        case .insufficientEncryption: "insufficient encryption"
        case .invalidSource: "invalid Source CID"
        case .sourceAlreadyAllocated: "Source CID already allocated"
        case .unacceptableParameters: "unacceptable parameters"
        case .invalidParameters: "invalid parameters"
        case .pending: "pending"
        case .authenticationPending: "authentication pending"
        case .authorizationPending: "authorization pending"
        default: "result 0x\(String(wire, radix: 16))"
        }
    }
}
