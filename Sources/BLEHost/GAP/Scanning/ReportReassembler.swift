import BLEWire

/// The reassembly of extended advertising reports, which may arrive in parts.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.2 and 7.7.65.13.
struct ReportReassembler {
    private struct Partial {
        let address: DeviceAddress
        let sid: AdvertisingSID
        let isScanResponse: Bool
        var data: [UInt8]
    }

    private var partials: [Partial] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Drops all parts after a reset of the controller or the end of a scan.
    mutating func reset() { partials.removeAll() }

    /// The result of processing a report.
    enum OnReport {
        /// A complete advertisement with its data.
        case advertisement(ReceivedAdvertisement, [UInt8])
        case incomplete
        /// The report is unusable.
        case ignored
        /// The report is incomplete. There were too many incomplete advertisements, so the oldest was dropped.
        case displacedOldest
    }

    /// Processes an extended report.
    ///
    /// Data that the controller has truncated counts as complete, because incomplete data is better than none.
    mutating func receive(_ report: HCI.LEExtendedAdvertisingReport.Report) -> OnReport {
        guard report.address.kind != .anonymous else { return .ignored }
        let isScanResponse = report.type.contains(.scanResponse)
        let index = partials.firstIndex {
            $0.address == report.address && $0.sid == report.sid && $0.isScanResponse == isScanResponse
        }
        let data = (index.map { partials[$0].data } ?? []) + report.data
        guard data.count <= AdvertisingData.maximumExtendedLength, report.type.dataStatus != .reserved else {
            if let index { partials.remove(at: index) }
            return .ignored
        }
        if report.type.dataStatus == .incomplete { return store(data, of: report, at: index) }
        if let index { partials.remove(at: index) }
        return .advertisement(
            ReceivedAdvertisement(
                address: report.address,
                isConnectable: report.type.contains(.connectable),
                isScannable: report.type.contains(.scannable) && !isScanResponse,
                isScanResponse: isScanResponse,
                rssi: report.rssi,
                packet: AdvertisementPacket(report)
            ),
            data
        )
    }

    private mutating func store(
        _ data: [UInt8],
        of report: HCI.LEExtendedAdvertisingReport.Report,
        at index: Int?
    ) -> OnReport {
        if let index {
            partials[index].data = data
            return .incomplete
        }
        let isCrowded = partials.count >= limit
        if isCrowded { partials.removeFirst() }
        let isScanResponse = report.type.contains(.scanResponse)
        partials.append(Partial(address: report.address, sid: report.sid, isScanResponse: isScanResponse, data: data))
        return isCrowded ? .displacedOldest : .incomplete
    }
}

extension AdvertisementPacket {
    fileprivate init(_ report: HCI.LEExtendedAdvertisingReport.Report) {
        isLegacy = report.type.contains(.legacy)
        isScannable = report.type.contains(.scannable)
        isDirected = report.type.contains(.directed)
        isTruncated = report.type.dataStatus == .truncated
        primaryPHY = report.primaryPHY
        secondaryPHY = report.secondaryPHY
        set = report.sid
        transmitPower = report.power
    }
}

/// The properties of a received advertisement or scan response, without its data.
///
/// The properties do not depend on the kind of HCI event that reported the packet.
struct ReceivedAdvertisement {
    var address: DeviceAddress
    var isConnectable = false
    /// True if a scan response may follow.
    var isScannable = false
    var isScanResponse = false
    var rssi = RSSI.unavailable
    var packet = AdvertisementPacket()
    /// The event type of a legacy report, which determines everything except the address and signal strength; `nil` for
    /// an extended report.
    var legacyType: HCI.LEAdvertisingReport.EventType?
}

extension ReceivedAdvertisement {
    /// Creates the properties from a legacy report; returns `nil` if the event type is unknown.
    @inline(__always)
    init?(_ type: HCI.LEAdvertisingReport.EventType, _ address: DeviceAddress, _ rssi: RSSI) {
        guard type.isKnown else { return nil }
        self.init(address: address, rssi: rssi)
        legacyType = type
        isConnectable = type.isConnectable
        isScannable = type.isScannable
        isScanResponse = type.isScanResponse
        packet.isScannable = isScannable
        packet.isDirected = type.isDirected
    }
}
