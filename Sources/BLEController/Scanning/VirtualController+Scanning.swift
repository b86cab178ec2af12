import BLEWire

extension VirtualController {
    /// The window of the scan that hears a packet now, on a primary channel.
    ///
    /// Changes nothing, and is `mutating` so that the controller is looked at where it lies.
    @inline(__always)
    mutating func scanWindow(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> ScanWindow? {
        scanner.isListening ? scanner.window(channel, phy, at: instant) : nil
    }

    /// Whether the scan that hears a packet now is an active one, `nil` if none does, and whether the initiator hears
    /// it; for both the controller is looked at once.
    @inline(__always)
    mutating func hears(
        _ channel: Int,
        _ phy: AirPHY,
        at instant: Instant
    ) -> (asks: Bool?, initiates: Bool) {
        (scanWindow(channel, phy, at: instant)?.isActive, initiates(channel, phy, at: instant))
    }

    /// Whether the initiator hears a packet now, on a primary channel; `mutating` for the same reason.
    @inline(__always)
    mutating func initiates(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> Bool {
        guard initiator != nil else { return false }
        return initiator?.hears(channel, phy, at: instant) ?? false
    }

    /// Whether the host gets to see a report, with the filter of duplicates that it asked for.
    mutating func isNew(_ report: AdvertisingReport) -> Bool {
        guard scanner.duplicates != .reported else { return true }
        return scanner.seen.insert(Self.key(report.address, report.kind, report.dataInfo))
    }

    /// Whether a scan response was reported already and would not be again.
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
