extension HCI {
    /// A report about received legacy advertisements and scan responses.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.2.
    @usableFromInline package struct LEAdvertisingReport: HCILEEvent {
        package static var subevent: LESubevent { .advertisingReport }

        package var reports: [Report] = []

        /// One advertisement or scan response.
        package struct Report: Packet {
            package var type = EventType.connectable
            package var address = DeviceAddress.none
            /// The encoded advertising data, at most 31 octets.
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

        /// The type of the reported packet.
        @usableFromInline package struct EventType: WireField, Hashable, CustomStringConvertible {
            @usableFromInline package let wire: UInt8
            @inlinable package init(wire: UInt8) { self.wire = wire }

            /// An undirected advertisement, which is connectable and scannable.
            package static let connectable = Self(wire: 0)
            /// A directed advertisement: only the target may connect to the advertiser.
            package static let directed = Self(wire: 1)
            package static let scannable = Self(wire: 2)
            package static let nonConnectable = Self(wire: 3)
            package static let scanResponse = Self(wire: 4)

            /// True for values that the specification defines.
            @inlinable @inline(__always) package var isKnown: Bool { wire <= 4 }
            @inlinable @inline(__always) package var isConnectable: Bool { wire <= 1 }
            @inlinable @inline(__always) package var isDirected: Bool { wire == 1 }
            @inlinable @inline(__always) package var isScannable: Bool { wire == 0 || wire == 2 }
            @inlinable @inline(__always) package var isScanResponse: Bool { wire == 4 }

            @usableFromInline package var description: String {
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
            try wire.list(&reports, upTo: Self.mostReports, "Num Reports")
        }

        private static let mostReports = 25

        /// Returns whether an H4 packet starts with the header of this event.
        @inline(__always)
        package static func begins(_ packet: Span<UInt8>) -> Bool {
            packet.count > 3 && packet[0] == PacketType.event.wire && packet[1] == EventCode.leMeta.wire
                && packet[3] == subevent.wire
        }

        /// Calls `body` with each report of an event, without copying the event.
        ///
        /// If the event is malformed, the method throws and never calls `body`.
        ///
        /// - Parameters:
        ///   - packet: The complete H4 packet, including the packet indicator.
        ///   - body: Called with the type, address, data and signal strength of each report.
        /// - Returns: `false` if `packet` is a packet of another kind.
        /// - Throws: The error from decoding the event.
        @inline(__always)
        package static func forEach(
            in packet: Span<UInt8>,
            _ body: (EventType, DeviceAddress, Span<UInt8>, RSSI) -> Void
        ) throws(PacketError) -> Bool {
            guard begins(packet) else { return false }
            let parameters = packet.extracting(droppingFirst: 4)
            let length = Int(packet[2]) - 1
            if parameters.count < length { throw .truncated(field: "Parameter Total Length") }
            if parameters.count > length { throw .trailing(count: parameters.count - length) }
            guard parameters.count > 0 else { throw .truncated(field: "Num Reports") }
            let count = Int(parameters[0])
            guard count <= mostReports else { throw .reserved(field: "Num Reports") }
            var end = 1
            for _ in 0..<count { end = try self.end(ofReportAt: end, in: parameters) }
            guard end == parameters.count else { throw .trailing(count: parameters.count - end) }
            var start = 1
            for _ in 0..<count {
                let end = try self.end(ofReportAt: start, in: parameters)
                let report = parameters.extracting(start..<end)
                var address: UInt64 = 0
                for index in 0..<6 { address |= UInt64(report[2 + index]) &<< UInt64(8 * index) }
                body(
                    EventType(wire: report[0]),
                    DeviceAddress(address, DeviceAddress.Kind(wire: report[1])),
                    report.extracting(9..<(report.count - 1)),
                    RSSI(wire: report[report.count - 1])
                )
                start = end
            }
            return true
        }

        /// Returns the offset of the end of the report that begins at `start`.
        ///
        /// A report has eight octets before the data length, and one octet after the data.
        @inline(__always)
        private static func end(ofReportAt start: Int, in octets: Span<UInt8>) throws(PacketError) -> Int {
            guard start + 9 <= octets.count else { throw .truncated(field: "Data Length") }
            let end = start + 9 + Int(octets[start + 8]) + 1
            guard end <= octets.count else { throw .truncated(field: "Data") }
            return end
        }
    }

    /// A report about directed advertisements to private addresses that the controller could not resolve.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.11.
    package struct LEDirectedAdvertisingReport: HCILEEvent {
        package static var subevent: LESubevent { .directedAdvertisingReport }

        package var reports: [Report] = []

        /// One directed advertisement.
        package struct Report: Packet {
            package var type = LEAdvertisingReport.EventType.directed
            package var address = DeviceAddress.none
            /// The target of the directed advertisement.
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

extension HCI {
    /// A report about received advertisements and scan responses, legacy or extended.
    ///
    /// Long data arrives in several reports; ``EventType/dataStatus`` says whether more data follows.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.13.
    package struct LEExtendedAdvertisingReport: HCILEEvent {
        package static var subevent: LESubevent { .extendedAdvertisingReport }

        package var reports: [Report] = []

        package init() {}
        package init(reports: [Report]) {
            self.reports = reports
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.list(&reports, upTo: 10, "Num Reports")
        }
    }
}
