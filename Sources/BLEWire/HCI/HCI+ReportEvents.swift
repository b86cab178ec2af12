extension HCI {
    /// Brings legacy advertisements and scan responses that were heard.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.2.
    package struct LEAdvertisingReport: HCILEEvent {
        package static var subevent: LESubevent { .advertisingReport }

        package var reports: [Report] = []

        /// One advertisement or scan response.
        package struct Report: Packet {
            package var type = EventType.connectable
            package var address = DeviceAddress.none
            /// The structures of the advertising data, at most 31 octets.
            package var data: [UInt8] = []
            package var rssi = RSSI.unavailable

            package init() {}
            package init(type: EventType, address: DeviceAddress, data: [UInt8], rssi: RSSI) {
                self.type = type
                self.address = address
                self.data = data
                self.rssi = rssi
            }

            package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
                try wire.field(&type, "Event Type")
                try wire.typedAddress(&address, kind: "Address Type", "Address")
                try wire.advertisingData(&data, length: "Data Length", "Data")
                try wire.field(&rssi, "RSSI")
            }
        }

        /// What kind of packet a report is about.
        package struct EventType: WireField, Hashable, CustomStringConvertible {
            package let wire: UInt8
            package init(wire: UInt8) { self.wire = wire }

            /// Connectable and scannable, undirected.
            package static let connectable = Self(wire: 0)
            /// Connectable by one peer.
            package static let directed = Self(wire: 1)
            package static let scannable = Self(wire: 2)
            package static let nonConnectable = Self(wire: 3)
            package static let scanResponse = Self(wire: 4)

            package var description: String {
                switch self {
                case .connectable: "ADV_IND"
                case .directed: "ADV_DIRECT_IND"
                case .scannable: "ADV_SCAN_IND"
                case .nonConnectable: "ADV_NONCONN_IND"
                case .scanResponse: "SCAN_RSP"
                default: "event type 0x\(String(wire, radix: 16))"
                }
            }
        }

        package init() {}
        package init(reports: [Report]) {
            self.reports = reports
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.list(&reports, upTo: 25, "Num Reports")
        }
    }

    /// Brings directed advertisements to a private address that the controller could not resolve.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.11.
    package struct LEDirectedAdvertisingReport: HCILEEvent {
        package static var subevent: LESubevent { .directedAdvertisingReport }

        package var reports: [Report] = []

        /// One advertisement.
        package struct Report: Packet {
            package var type = LEAdvertisingReport.EventType.directed
            package var address = DeviceAddress.none
            /// Whom the advertisement is for.
            package var target = DeviceAddress.none
            package var rssi = RSSI.unavailable

            package init() {}
            package init(address: DeviceAddress, target: DeviceAddress, rssi: RSSI) {
                self.address = address
                self.target = target
                self.rssi = rssi
            }

            package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
                try wire.field(&type, "Event Type")
                try wire.typedAddress(&address, kind: "Address Type", "Address")
                try wire.typedAddress(&target, kind: "Direct Address Type", "Direct Address")
                try wire.field(&rssi, "RSSI")
            }
        }

        package init() {}
        package init(reports: [Report]) {
            self.reports = reports
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.list(&reports, upTo: 25, "Num Reports")
        }
    }
}
