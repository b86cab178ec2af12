extension LL {
    /// The payload of ADV_EXT_IND, AUX_ADV_IND, AUX_SCAN_RSP, AUX_CHAIN_IND and AUX_CONNECT_RSP.
    ///
    /// Each field is optional.
    ///
    /// Core 6.0, Vol 6, Part B, 2.3.4.
    package struct ExtendedAdvertisement: Packet {
        /// The kind of requests that the advertiser accepts: connection requests, scan requests, or neither.
        package enum Mode: UInt8, Sendable { case neither = 0, connectable = 1, scannable = 2 }

        /// The identification of advertising data: a 12-bit data ID and a 4-bit set ID.
        package struct DataInfo: Hashable, Sendable {
            package var wire: UInt16
            package init(wire: UInt16) { self.wire = wire }
            package init(set: UInt8, data: UInt16) { wire = data & 0x0FFF | UInt16(set & 0x0F) << 12 }
            package var set: UInt8 { UInt8(wire >> 12) }
            package var data: UInt16 { wire & 0x0FFF }
        }

        /// A pointer to the packet with the next part of the advertisement: its channel index, time offset and PHY.
        package struct AuxiliaryPointer: Hashable, Sendable {
            /// The pointer in 24 bits: channel index, clock accuracy, unit, offset and PHY.
            package var wire: UInt64
            package init(wire: UInt64) { self.wire = wire & 0xFF_FFFF }

            /// Creates a pointer to the packet with the next part of the advertisement.
            ///
            /// - Parameters:
            ///   - channel: The channel index, 0 to 36.
            ///   - offset: The time from the start of the packet that contains the pointer, in microseconds, up to
            ///     2,457,300.
            ///   - phy: The PHY: 0 for 1M, 1 for 2M, 2 for Coded.
            package init(channel: UInt8, offset: Int, phy: UInt8) {
                let long = offset >= 30 * 0x2000
                let units = UInt64(min(max(offset, 0) / (long ? 300 : 30), 0x1FFF))
                wire = UInt64(channel & 0x3F) | (long ? 0x80 : 0) | units << 8 | UInt64(phy & 7) << 21
            }

            package var channel: UInt8 { UInt8(wire & 0x3F) }
            /// The time from the start of the packet that contains the pointer, in microseconds.
            ///
            /// The packet with the next part starts at this time or up to one unit later; the unit is 30 µs or 300 µs.
            package var offset: Int { Int(wire >> 8 & 0x1FFF) * (wire & 0x80 != 0 ? 300 : 30) }
            package var phy: UInt8 { UInt8(wire >> 21 & 7) }
        }

        package var mode = Mode.neither
        package var advertiser: DeviceAddress?
        package var target: DeviceAddress?
        /// The description of the Constant Tone Extension after the packet; `nil` if there is none.
        package var toneInfo: UInt8?
        package var dataInfo: DataInfo?
        package var auxiliary: AuxiliaryPointer?
        /// The timing of a periodic advertising train, 18 octets; empty if the packet has none.
        package var syncInfo: [UInt8] = []
        /// The transmit power in dBm, as two's complement; `nil` if the packet does not state it.
        package var power: UInt8?
        /// Additional data for the receiving controller, which hosts do not see.
        package var controllerData: [UInt8] = []
        package var data: [UInt8] = []

        package init() {}

        private var flags: UInt8 {
            (advertiser == nil ? 0 : 0x01) | (target == nil ? 0 : 0x02) | (toneInfo == nil ? 0 : 0x04)
                | (dataInfo == nil ? 0 : 0x08) | (auxiliary == nil ? 0 : 0x10) | (syncInfo.isEmpty ? 0 : 0x20)
                | (power == nil ? 0 : 0x40)
        }

        private static func size(of flags: UInt8) -> Int {
            let sizes = [6, 6, 1, 2, 3, 18, 1]
            return sizes.indices.reduce(1) { $0 + (flags >> UInt8($1) & 1 != 0 ? sizes[$1] : 0) }
        }

        /// The length of the extended header in octets, without the length field.
        package var headerLength: Int {
            flags == 0 && controllerData.isEmpty ? 0 : Self.size(of: flags) + controllerData.count
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            var lead = UInt8(truncatingIfNeeded: headerLength & 0x3F) | mode.rawValue << 6
            try wire.integer(&lead, "Extended Header Length and AdvMode")
            guard let mode = Mode(rawValue: lead >> 6) else { throw .reserved(field: "AdvMode") }
            self.mode = mode
            if lead & 0x3F != 0 { try header(&wire, length: Int(lead & 0x3F)) }
            try wire.rest(&data, "AdvData")
        }

        private mutating func header(_ wire: inout some AnyWire, length: Int) throws(PacketError) {
            var flags = self.flags
            try wire.integer(&flags, "Extended Header Flags")
            guard flags & 0x80 == 0, Self.size(of: flags) <= length else {
                throw .reserved(field: "Extended Header Flags")
            }
            if flags & 0x01 != 0 {
                var value = advertiser ?? .none
                try wire.address(&value, "AdvA")
                advertiser = value
            }
            if flags & 0x02 != 0 {
                var value = target ?? .none
                try wire.address(&value, "TargetA")
                target = value
            }
            if flags & 0x04 != 0 {
                var value = toneInfo ?? 0
                try wire.integer(&value, "CTEInfo")
                toneInfo = value
            }
            if flags & 0x08 != 0 {
                var value = dataInfo?.wire ?? 0
                try wire.integer(&value, "ADI")
                dataInfo = DataInfo(wire: value)
            }
            if flags & 0x10 != 0 {
                var value = auxiliary?.wire ?? 0
                try wire.narrow(&value, octets: 3, "AuxPtr")
                auxiliary = AuxiliaryPointer(wire: value)
            }
            if flags & 0x20 != 0 { try wire.bytes(&syncInfo, count: 18, "SyncInfo") }
            if flags & 0x40 != 0 {
                var value = power ?? 0
                try wire.integer(&value, "TxPower")
                power = value
            }
            try wire.bytes(&controllerData, count: length - Self.size(of: flags), "ACAD")
        }
    }
}
