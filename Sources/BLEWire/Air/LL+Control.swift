extension LL {
    /// The opcode of a link layer control PDU.
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.2.
    package struct ControlOpcode: WireField, Hashable, CustomStringConvertible {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let connectionUpdate = Self(wire: 0x00)
        package static let channelMap = Self(wire: 0x01)
        package static let terminate = Self(wire: 0x02)
        package static let encryptionRequest = Self(wire: 0x03)
        package static let encryptionResponse = Self(wire: 0x04)
        package static let startEncryptionRequest = Self(wire: 0x05)
        package static let startEncryptionResponse = Self(wire: 0x06)
        package static let unknownResponse = Self(wire: 0x07)
        package static let featureRequest = Self(wire: 0x08)
        package static let featureResponse = Self(wire: 0x09)
        package static let pauseEncryptionRequest = Self(wire: 0x0A)
        package static let pauseEncryptionResponse = Self(wire: 0x0B)
        package static let version = Self(wire: 0x0C)
        package static let reject = Self(wire: 0x0D)
        package static let peripheralFeatureRequest = Self(wire: 0x0E)
        package static let parameterRequest = Self(wire: 0x0F)
        package static let parameterResponse = Self(wire: 0x10)
        package static let rejectExtended = Self(wire: 0x11)
        package static let pingRequest = Self(wire: 0x12)
        package static let pingResponse = Self(wire: 0x13)
        package static let lengthRequest = Self(wire: 0x14)
        package static let lengthResponse = Self(wire: 0x15)
        package static let phyRequest = Self(wire: 0x16)
        package static let phyResponse = Self(wire: 0x17)
        package static let phyUpdate = Self(wire: 0x18)

        private static let names: [StaticString] = [
            "LL_CONNECTION_UPDATE_IND", "LL_CHANNEL_MAP_IND", "LL_TERMINATE_IND", "LL_ENC_REQ", "LL_ENC_RSP",
            "LL_START_ENC_REQ", "LL_START_ENC_RSP", "LL_UNKNOWN_RSP", "LL_FEATURE_REQ", "LL_FEATURE_RSP",
            "LL_PAUSE_ENC_REQ", "LL_PAUSE_ENC_RSP", "LL_VERSION_IND", "LL_REJECT_IND", "LL_PERIPHERAL_FEATURE_REQ",
            "LL_CONNECTION_PARAM_REQ", "LL_CONNECTION_PARAM_RSP", "LL_REJECT_EXT_IND", "LL_PING_REQ", "LL_PING_RSP",
            "LL_LENGTH_REQ", "LL_LENGTH_RSP", "LL_PHY_REQ", "LL_PHY_RSP", "LL_PHY_UPDATE_IND",
        ]

        package var description: String {
            Int(wire) < Self.names.count ? "\(Self.names[Int(wire)])" : "LL control opcode 0x\(String(wire, radix: 16))"
        }
    }

    /// LL_CONNECTION_UPDATE_IND: new timing, which applies from the connection event with the number `instant`.
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.2.1.
    package struct ConnectionUpdate: Packet {
        /// The length of the transmit window for the first new anchor point, in units of 1.25 ms.
        package var windowSize: UInt8 = 0
        /// The time, in units of 1.25 ms, from the anchor point according to the old timing to the start of the
        /// transmit window.
        package var windowOffset: UInt16 = 0
        /// The connection interval, in units of 1.25 ms.
        package var interval: UInt16 = 0
        package var latency: UInt16 = 0
        /// The supervision timeout, in units of 10 ms.
        package var timeout: UInt16 = 0
        package var instant: UInt16 = 0

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&windowSize, "WinSize")
            try wire.integer(&windowOffset, "WinOffset")
            try wire.integer(&interval, "Interval")
            try wire.integer(&latency, "Latency")
            try wire.integer(&timeout, "Timeout")
            try wire.integer(&instant, "Instant")
        }
    }

    /// LL_CHANNEL_MAP_IND: the channels to use from the connection event with the number `instant`.
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.2.2.
    package struct ChannelMapIndication: Packet {
        /// The data channels in use, one bit for each of the 37.
        package var channelMap: UInt64 = 0
        package var instant: UInt16 = 0

        package init() {}
        package init(channelMap: UInt64, instant: UInt16) {
            self.channelMap = channelMap
            self.instant = instant
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.narrow(&channelMap, octets: 5, "ChM")
            try wire.integer(&instant, "Instant")
        }
    }

    /// LL_VERSION_IND: the version and manufacturer of the sender.
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.2.13.
    package struct VersionIndication: Packet {
        package var version: UInt8 = 0
        package var company: UInt16 = 0
        package var subversion: UInt16 = 0

        package init() {}
        package init(version: UInt8, company: UInt16, subversion: UInt16) {
            self.version = version
            self.company = company
            self.subversion = subversion
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&version, "Version")
            try wire.integer(&company, "Company_Identifier")
            try wire.integer(&subversion, "Subversion")
        }
    }

    /// LL_CONNECTION_PARAM_REQ and LL_CONNECTION_PARAM_RSP: the timing that the sender prefers.
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.2.16 and 2.4.2.17.
    package struct ConnectionParameters: Packet {
        /// The minimum connection interval, in units of 1.25 ms.
        package var intervalMinimum: UInt16 = 0
        /// The maximum connection interval, in units of 1.25 ms.
        package var intervalMaximum: UInt16 = 0
        package var latency: UInt16 = 0
        /// The supervision timeout, in units of 10 ms.
        package var timeout: UInt16 = 0
        /// A time, in units of 1.25 ms, that the connection interval should be a multiple of.
        package var preferredPeriodicity: UInt8 = 0
        package var referenceEventCount: UInt16 = 0
        /// The first of up to six positions that the sender proposes for the new anchor points; 0xFFFF if it is unused.
        ///
        /// The position is the time from the anchor point of the connection event ``referenceEventCount``, in units of
        /// 1.25 ms.
        package var offset0: UInt16 = 0xFFFF
        package var offset1: UInt16 = 0xFFFF
        package var offset2: UInt16 = 0xFFFF
        package var offset3: UInt16 = 0xFFFF
        package var offset4: UInt16 = 0xFFFF
        package var offset5: UInt16 = 0xFFFF

        package init() {}
        package init(intervalMinimum: UInt16, intervalMaximum: UInt16, latency: UInt16, timeout: UInt16) {
            self.intervalMinimum = intervalMinimum
            self.intervalMaximum = intervalMaximum
            self.latency = latency
            self.timeout = timeout
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&intervalMinimum, "Interval_Min")
            try wire.integer(&intervalMaximum, "Interval_Max")
            try wire.integer(&latency, "Latency")
            try wire.integer(&timeout, "Timeout")
            try wire.integer(&preferredPeriodicity, "PreferredPeriodicity")
            try wire.integer(&referenceEventCount, "ReferenceConnEventCount")
            try wire.integer(&offset0, "Offset0")
            try wire.integer(&offset1, "Offset1")
            try wire.integer(&offset2, "Offset2")
            try wire.integer(&offset3, "Offset3")
            try wire.integer(&offset4, "Offset4")
            try wire.integer(&offset5, "Offset5")
        }
    }

    /// LL_REJECT_EXT_IND: a refusal of the request that `opcode` identifies, with the reason.
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.2.18.
    package struct Rejection: Packet {
        package var opcode = ControlOpcode(wire: 0)
        /// The reason as an HCI status code.
        package var reason: UInt8 = 0

        package init() {}
        package init(opcode: ControlOpcode, reason: UInt8) {
            self.opcode = opcode
            self.reason = reason
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&opcode, "RejectOpcode")
            try wire.integer(&reason, "ErrorCode")
        }
    }

    /// LL_LENGTH_REQ and LL_LENGTH_RSP: the maximum packet lengths that the sender can receive and send.
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.2.21.
    package struct Lengths: Packet, Hashable {
        /// The maximum payload of a packet that the sender of the PDU can receive, 27 to 251 octets.
        package var receiveOctets: UInt16 = 27
        /// The maximum duration of a packet that the sender of the PDU can receive, 328 to 17,040 µs.
        package var receiveTime: UInt16 = 328
        /// The maximum payload of a packet that the sender of the PDU can send, 27 to 251 octets.
        package var transmitOctets: UInt16 = 27
        /// The maximum duration of a packet that the sender of the PDU can send, 328 to 17,040 µs.
        package var transmitTime: UInt16 = 328

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&receiveOctets, "MaxRxOctets")
            try wire.integer(&receiveTime, "MaxRxTime")
            try wire.integer(&transmitOctets, "MaxTxOctets")
            try wire.integer(&transmitTime, "MaxTxTime")
        }
    }

    /// LL_PHY_REQ and LL_PHY_RSP: the PHYs that the sender prefers, as bit sets (1 is 1M, 2 is 2M, 4 is Coded).
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.2.22.
    package struct PHYPreference: Packet, Hashable {
        package var transmit: UInt8 = 0
        package var receive: UInt8 = 0

        package init() {}
        package init(transmit: UInt8, receive: UInt8) {
            self.transmit = transmit
            self.receive = receive
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&transmit, "TX_PHYS")
            try wire.integer(&receive, "RX_PHYS")
        }
    }

    /// LL_PHY_UPDATE_IND: the PHYs to use from the connection event with the number `instant`; a PHY of 0 stands for no
    /// change.
    ///
    /// Core 6.0, Vol 6, Part B, 2.4.2.23.
    package struct PHYUpdate: Packet, Hashable {
        package var centralToPeripheral: UInt8 = 0
        package var peripheralToCentral: UInt8 = 0
        package var instant: UInt16 = 0

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&centralToPeripheral, "PHY_C_TO_P")
            try wire.integer(&peripheralToCentral, "PHY_P_TO_C")
            try wire.integer(&instant, "Instant")
        }
    }
}
