/// The link layer: the packets that two controllers exchange over the air.
///
/// Hosts never see these packets. They are declared here because the virtual air records them and monitors show them.
///
/// Core 6.0, Vol 6, Part B.
package enum LL {
    /// The access address of all packets on advertising channels.
    ///
    /// Core 6.0, Vol 6, Part B, 2.1.2.
    package static let advertisingAccessAddress: UInt32 = 0x8E89_BED6

    /// The type of an advertising channel PDU.
    ///
    /// Core 6.0, Vol 6, Part B, 2.3.
    package struct AdvertisingType: WireField, Hashable, CustomStringConvertible {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire & 0x0F }

        package static let connectable = Self(wire: 0)
        package static let directed = Self(wire: 1)
        package static let nonConnectable = Self(wire: 2)
        /// SCAN_REQ on a primary channel, AUX_SCAN_REQ on a secondary channel.
        package static let scanRequest = Self(wire: 3)
        package static let scanResponse = Self(wire: 4)
        /// CONNECT_IND on a primary channel, AUX_CONNECT_REQ on a secondary channel.
        package static let connect = Self(wire: 5)
        package static let scannable = Self(wire: 6)
        /// ADV_EXT_IND on a primary channel; AUX_ADV_IND, AUX_SCAN_RSP and AUX_CHAIN_IND on a secondary channel.
        package static let extended = Self(wire: 7)
        package static let connectResponse = Self(wire: 8)

        package var description: String {
            switch self {
            case .connectable: "ADV_IND"
            case .directed: "ADV_DIRECT_IND"
            case .nonConnectable: "ADV_NONCONN_IND"
            case .scanRequest: "SCAN_REQ"
            case .scanResponse: "SCAN_RSP"
            case .connect: "CONNECT_IND"
            case .scannable: "ADV_SCAN_IND"
            case .extended: "ADV_EXT_IND"
            case .connectResponse: "AUX_CONNECT_RSP"
            default: "advertising PDU type \(wire)"
            }
        }
    }

    /// The two octets before the payload of an advertising channel PDU.
    ///
    /// Core 6.0, Vol 6, Part B, 2.3.
    package struct AdvertisingHeader: Packet {
        package var type = AdvertisingType.connectable
        /// True if the sender supports Channel Selection Algorithm #2.
        package var channelSelection = false
        /// The kind of the sender's address (TxAdd).
        package var sender = DeviceAddress.Kind.public
        /// The kind of the receiver's address (RxAdd).
        package var target = DeviceAddress.Kind.public
        /// The number of octets that follow.
        package var length: UInt8 = 0

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            var bits = type.wire
            if channelSelection { bits |= 0x20 }
            if sender == .random { bits |= 0x40 }
            if target == .random { bits |= 0x80 }
            try wire.integer(&bits, "PDU Type, ChSel, TxAdd and RxAdd")
            type = AdvertisingType(wire: bits)
            channelSelection = bits & 0x20 != 0
            sender = bits & 0x40 != 0 ? .random : .public
            target = bits & 0x80 != 0 ? .random : .public
            // Bit 4 is reserved for future use and ignored on receipt.
            try wire.integer(&length, "Length")
        }
    }

    /// The two octets before the payload of a data channel PDU.
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.
    package struct DataHeader: Packet {
        /// The type of the payload.
        package enum Content: UInt8, Sendable {
            case reserved = 0
            /// A later fragment of an L2CAP packet, or an empty PDU.
            case continuation = 1
            /// The first fragment of an L2CAP packet.
            case start = 2
            case control = 3
        }

        package var content = Content.continuation
        /// The Next Expected Sequence Number bit, which acknowledges the last received packet if it differs from the
        /// Sequence Number bit of that packet.
        package var nextExpected = false
        /// The Sequence Number bit.
        package var sequence = false
        /// True if the sender has more data for this connection event.
        package var moreData = false
        /// The number of octets that follow.
        package var length: UInt8 = 0

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            var bits = content.rawValue
            if nextExpected { bits |= 0x04 }
            if sequence { bits |= 0x08 }
            if moreData { bits |= 0x10 }
            try wire.integer(&bits, "LLID, NESN, SN and MD")
            content = Content(rawValue: bits & 3) ?? .reserved
            nextExpected = bits & 0x04 != 0
            sequence = bits & 0x08 != 0
            moreData = bits & 0x10 != 0
            // The bit for constant tone extensions and the two reserved bits are ignored on receipt.
            try wire.integer(&length, "Length")
        }
    }
}
