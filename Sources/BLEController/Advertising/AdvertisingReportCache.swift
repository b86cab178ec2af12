import BLEWire

/// The encoded HCI events that report legacy advertisements to scanners' hosts.
///
/// The events are reused: most advertisers repeat their data, so usually only the signal strength in the last octet
/// changes.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.2.
struct AdvertisingReportCache {
    private struct CachedReport {
        private var kind = AdvertisingReport.Kind()
        private var address = DeviceAddress.none
        private var data: [UInt8] = []
        /// The event of the last report as an H4 packet; empty before the first report.
        private var octets: [UInt8] = []

        init() {}

        private init(_ report: AdvertisingReport) {
            kind = report.kind
            address = report.address
            data = report.data
            let event = HCI.LEAdvertisingReport.Report(
                type: Self.type(report.kind),
                address: report.address,
                data: report.data,
                rssi: .init(dBm: 0)
            )
            octets = HCIEventPacket.leAdvertisingReport(.init(reports: [event])).encoded
        }

        /// Returns the event for `report`.
        ///
        /// The stored event is updated in place if nothing else still uses it.
        mutating func event(for report: AdvertisingReport) -> [UInt8] {
            if octets.isEmpty || !hasSameContent(as: report) { self = CachedReport(report) }
            octets[octets.count - 1] = UInt8(bitPattern: Int8(clamping: report.strength))
            return octets
        }

        private func hasSameContent(as report: AdvertisingReport) -> Bool {
            kind == report.kind && address == report.address && data == report.data
        }

        private static func type(_ kind: AdvertisingReport.Kind) -> HCI.LEAdvertisingReport.EventType {
            switch kind {
            case .connectable: .connectable
            case .directed: .directed
            case .scannable: .scannable
            case .nonConnectable: .nonConnectable
            default: .scanResponse
            }
        }
    }

    /// The events for each controller's last advertisement and last scan response.
    ///
    /// For the controller with index n, they are at the indices 2n and 2n + 1.
    private var reports: [CachedReport] = []

    /// Returns the event for `report`, about an advertisement from the controller `advertiser`, as an H4 packet.
    mutating func event(for report: AdvertisingReport, of advertiser: Int) -> [UInt8] {
        let place = 2 * advertiser + (report.kind.contains(.isResponse) ? 1 : 0)
        while reports.count <= place { reports.append(CachedReport()) }
        return reports[place].event(for: report)
    }
}
