extension HCI.LEExtendedAdvertisingReport {
    /// One advertisement or scan response, or a part of one.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.13.
    package struct Report: Packet {
        package var type = EventType(wire: 0)
        package var address = DeviceAddress.none
        package var primaryPHY = PHY.le1M
        /// The PHY on which the data was sent; ``PHY/none`` if the data was sent on the primary channels.
        package var secondaryPHY = PHY.none
        package var sid = AdvertisingSID.none
        package var power = TransmitPower.unavailable
        package var rssi = RSSI.unavailable
        /// The interval of periodic advertising, in units of 1.25 ms; 0 if there is no periodic advertising.
        package var periodicInterval: UInt16 = 0
        /// The target of a directed advertisement; meaningless for other advertisements.
        package var target = DeviceAddress.none
        /// The encoded advertising data, at most 229 octets.
        package var data: [UInt8] = []

        package init() {}
        package init(
            type: EventType,
            address: DeviceAddress,
            primaryPHY: PHY = .le1M,
            secondaryPHY: PHY = .none,
            sid: AdvertisingSID = .none,
            power: TransmitPower = .unavailable,
            rssi: RSSI,
            target: DeviceAddress = .none,
            data: [UInt8]
        ) {
            self.type = type
            self.address = address
            self.primaryPHY = primaryPHY
            self.secondaryPHY = secondaryPHY
            self.sid = sid
            self.power = power
            self.rssi = rssi
            self.target = target
            self.data = data
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&type, "Event Type")
            try wire.typedAddress(&address, kind: "Address Type", "Address")
            try wire.field(&primaryPHY, "Primary PHY")
            try wire.field(&secondaryPHY, "Secondary PHY")
            try wire.field(&sid, "Advertising SID")
            try wire.field(&power, "TX Power")
            try wire.field(&rssi, "RSSI")
            try wire.integer(&periodicInterval, "Periodic Advertising Interval")
            try wire.typedAddress(&target, kind: "Direct Address Type", "Direct Address")
            try wire.advertisingData(&data, length: "Data Length", "Data")
        }
    }

    /// The type of the reported packet and the status of its data; unknown bits are kept.
    package struct EventType: OptionSet, WireField, Hashable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }
        package init(wire: UInt16) { rawValue = wire }
        package var wire: UInt16 { rawValue }

        package static let connectable = Self(rawValue: 1 << 0)
        package static let scannable = Self(rawValue: 1 << 1)
        package static let directed = Self(rawValue: 1 << 2)
        package static let scanResponse = Self(rawValue: 1 << 3)
        package static let legacy = Self(rawValue: 1 << 4)

        /// Creates a type from `flags`, with the data status `data` instead of that of `flags`.
        package init(_ flags: Self, data: DataStatus) { rawValue = flags.rawValue & ~0x60 | data.rawValue << 5 }

        /// The status of the data: complete, incomplete or truncated.
        package var dataStatus: DataStatus { DataStatus(rawValue: rawValue >> 5 & 3) ?? .reserved }
    }

    /// The status of the data in a report: complete, incomplete or truncated.
    package enum DataStatus: UInt16, Sendable {
        /// The report contains all data, or the last part of the data.
        case complete = 0
        /// More data follows in the next report.
        case incomplete = 1
        /// The controller has lost the rest of the data, so no more data follows.
        case truncated = 2
        case reserved = 3
    }
}

extension HCI.LEExtendedAdvertisingReport.EventType: CustomStringConvertible {
    package var description: String {
        let flags = Self(rawValue: rawValue & ~0x60)
        let text = flags.names(of: ["connectable", "scannable", "directed", "scan response", "legacy"])
        return "\(text); data \(dataStatus)"
    }
}
