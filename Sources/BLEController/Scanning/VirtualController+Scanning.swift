import BLEWire

extension VirtualController {
    /// Returns the scan window that receives a packet on a primary channel now.
    ///
    /// Changes nothing. It is `mutating` to avoid a copy of the controller.
    @inline(__always)
    mutating func scanWindow(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> ScanWindow? {
        scanner.isListening ? scanner.window(channel, phy, at: instant) : nil
    }

    /// Returns whether the scan that receives a packet now is active (`nil` if none does), and whether the initiator
    /// receives it, with a single look at the controller.
    @inline(__always)
    mutating func hears(
        _ channel: Int,
        _ phy: AirPHY,
        at instant: Instant
    ) -> (asks: Bool?, initiates: Bool) {
        (scanWindow(channel, phy, at: instant)?.isActive, initiates(channel, phy, at: instant))
    }

    /// Returns whether the initiator receives a packet on a primary channel now.
    ///
    /// It is `mutating` for the same reason.
    @inline(__always)
    mutating func initiates(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> Bool {
        guard initiator != nil else { return false }
        return initiator?.hears(channel, phy, at: instant) ?? false
    }

    /// Returns whether a report passes the duplicate filter that the host requested.
    mutating func isNew(_ report: AdvertisingReport) -> Bool {
        guard scanner.duplicates != .reported else { return true }
        return scanner.seen.insert(Self.key(report.address, report.kind, report.dataInfo))
    }

    /// Returns whether a scan response was already reported and would be filtered.
    func knowsResponse(
        _ address: DeviceAddress,
        kind: AdvertisingReport.Kind,
        dataInfo: LL.ExtendedAdvertisement.DataInfo? = nil
    ) -> Bool {
        scanner.duplicates != .reported && scanner.seen.contains(Self.key(address, kind, dataInfo))
    }

    private static func key(
        _ address: DeviceAddress,
        _ kind: AdvertisingReport.Kind,
        _ dataInfo: LL.ExtendedAdvertisement.DataInfo?
    ) -> DuplicateFilter.Key {
        // A response counts by itself; otherwise the kind of a report does not make it new.
        let kindBits: UInt64 = kind.contains(.isResponse) ? 1 : kind.contains(.isDirected) ? 2 : 0
        let setBits = dataInfo.map { UInt64($0.wire) << 8 | 1 << 24 } ?? 0
        return .init(address: address, detail: kindBits | setBits)
    }
}
