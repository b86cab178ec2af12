import BLEWire

extension VirtualController {
    /// Returns the scan window in which a packet that starts at `instant` on the primary channel `channel` is received;
    /// `nil` if there is none.
    ///
    /// The method changes nothing. It is `mutating` to avoid a copy of the controller.
    @inline(__always)
    mutating func scanWindow(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> ScanWindow? {
        scanner.isListening ? scanner.window(channel, phy, at: instant) : nil
    }

    /// Returns whether the scanner and the initiator receive a packet that starts at `instant`.
    ///
    /// `asks` is true if an active scan receives the packet, false if a passive scan does, and `nil` if no scan does.
    /// `initiates` is true if the initiator receives it. A single method for both questions saves one access to the
    /// controller.
    @inline(__always)
    mutating func receives(
        _ channel: Int,
        _ phy: AirPHY,
        at instant: Instant
    ) -> (asks: Bool?, initiates: Bool) {
        (scanWindow(channel, phy, at: instant)?.isActive, initiates(channel, phy, at: instant))
    }

    /// Returns whether the initiator receives a packet that starts at `instant` on the primary channel `channel`.
    ///
    /// The method changes nothing. It is `mutating` to avoid a copy of the controller.
    @inline(__always)
    mutating func initiates(_ channel: Int, _ phy: AirPHY, at instant: Instant) -> Bool {
        guard initiator != nil else { return false }
        return initiator?.receives(channel, phy, at: instant) ?? false
    }

    /// Records a report, and returns whether it passes the duplicate filter that the host has set.
    mutating func isNew(_ report: AdvertisingReport) -> Bool {
        guard scanner.duplicates != .reported else { return true }
        return scanner.seen.insert(Self.key(report.address, report.kind, report.dataInfo))
    }

    /// Returns whether the duplicate filter would suppress a scan response because that response has already been
    /// reported.
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
        // Scan responses and directed advertisements count separately. Apart from that, a report that differs only in
        // its kind is a duplicate.
        let kindBits: UInt64 = kind.contains(.isResponse) ? 1 : kind.contains(.isDirected) ? 2 : 0
        let setBits = dataInfo.map { UInt64($0.wire) << 8 | 1 << 24 } ?? 0
        return .init(address: address, detail: kindBits | setBits)
    }
}
