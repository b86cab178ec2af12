extension LL {
    /// ADV_IND, ADV_NONCONN_IND, ADV_SCAN_IND and SCAN_RSP: the advertiser's address and up to 31 octets of data.
    ///
    /// Core 6.0, Vol 6, Part B, 2.3.1 and 2.3.2.2.
    package struct Advertisement: Packet {
        package var advertiser = DeviceAddress.none
        package var data: [UInt8] = []

        package init() {}
        package init(advertiser: DeviceAddress, data: [UInt8]) {
            self.advertiser = advertiser
            self.data = data
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.address(&advertiser, "AdvA")
            try wire.rest(&data, "AdvData")
        }
    }

    /// ADV_DIRECT_IND: an advertisement for a single device.
    ///
    /// Core 6.0, Vol 6, Part B, 2.3.1.2.
    package struct DirectedAdvertisement: Packet {
        package var advertiser = DeviceAddress.none
        package var target = DeviceAddress.none

        package init() {}
        package init(advertiser: DeviceAddress, target: DeviceAddress) {
            self.advertiser = advertiser
            self.target = target
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.address(&advertiser, "AdvA")
            try wire.address(&target, "TargetA")
        }
    }

    /// SCAN_REQ and AUX_SCAN_REQ: a request for an advertiser's scan response.
    ///
    /// Core 6.0, Vol 6, Part B, 2.3.2.1.
    package struct ScanRequest: Packet {
        package var scanner = DeviceAddress.none
        package var advertiser = DeviceAddress.none

        package init() {}
        package init(scanner: DeviceAddress, advertiser: DeviceAddress) {
            self.scanner = scanner
            self.advertiser = advertiser
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.address(&scanner, "ScanA")
            try wire.address(&advertiser, "AdvA")
        }
    }

    /// CONNECT_IND and AUX_CONNECT_REQ: a request that turns an advertiser into a peripheral, with the timing and
    /// channels of the new connection.
    ///
    /// Core 6.0, Vol 6, Part B, 2.3.3.1.
    package struct ConnectIndication: Packet {
        package var initiator = DeviceAddress.none
        package var advertiser = DeviceAddress.none
        package var accessAddress: UInt32 = 0
        /// The initial value of the CRC, 24 bits.
        package var crcInit: UInt64 = 0
        /// The length of the transmit window for the first anchor point, in units of 1.25 ms.
        package var windowSize: UInt8 = 0
        /// The time, in units of 1.25 ms, from the end of a fixed delay after this PDU to the start of the transmit
        /// window.
        package var windowOffset: UInt16 = 0
        /// The connection interval, in units of 1.25 ms.
        package var interval: UInt16 = 0
        /// The number of connection events that the peripheral may skip.
        package var latency: UInt16 = 0
        /// The supervision timeout, in units of 10 ms.
        package var timeout: UInt16 = 0
        /// The data channels in use, one bit for each of the 37.
        package var channelMap: UInt64 = 0
        /// The hop increment in the lower five bits, and the sleep clock accuracy in the upper three.
        package var hopAndClockAccuracy: UInt8 = 0

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.address(&initiator, "InitA")
            try wire.address(&advertiser, "AdvA")
            try wire.integer(&accessAddress, "AA")
            try wire.narrow(&crcInit, octets: 3, "CRCInit")
            try wire.integer(&windowSize, "WinSize")
            try wire.integer(&windowOffset, "WinOffset")
            try wire.integer(&interval, "Interval")
            try wire.integer(&latency, "Latency")
            try wire.integer(&timeout, "Timeout")
            try wire.narrow(&channelMap, octets: 5, "ChM")
            try wire.integer(&hopAndClockAccuracy, "Hop and SCA")
        }
    }
}
