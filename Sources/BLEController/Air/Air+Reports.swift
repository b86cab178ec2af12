import BLEWire

extension Air {
    /// Reports an advertisement to a scanner's host, as a legacy or an extended event depending on the commands that
    /// the host uses.
    ///
    /// `advertiser` is the controller that sent the advertisement.
    mutating func send(
        _ report: AdvertisingReport,
        of advertiser: Int,
        to controller: Int,
        at instant: Instant
    ) {
        if controllers[controller].scanner.isExtended {
            sendExtended(report, to: controller, at: instant)
        } else if let target = report.target, target.kind == .unresolved {
            sendDirected(report, to: target, controller, at: instant)
        } else if report.kind.contains(.isLegacy) {
            guard decideToSend(.advertisingReport, controller) else { return }
            let event = reportCache.event(for: report, of: advertiser)
            outbox.add(.hci(event, to: ControllerID(rawValue: controller)), at: instant, now: now)
        }
    }

    /// Reports a directed advertisement whose target is a private address that may belong to the host.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.11.
    private mutating func sendDirected(
        _ report: AdvertisingReport,
        to target: DeviceAddress,
        _ controller: Int,
        at instant: Instant
    ) {
        let event = HCI.LEDirectedAdvertisingReport.Report(
            address: report.address,
            target: DeviceAddress(target.value, .random),
            rssi: RSSI(dBm: Int8(clamping: report.strength))
        )
        emit(.leDirectedAdvertisingReport(.init(reports: [event])), to: controller, at: instant)
    }

    /// The maximum length of the data in one extended advertising report, in octets.
    private static let fragmentLimit = 229

    /// Reports an advertisement in as many extended events as its data needs.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.13.
    private mutating func sendExtended(_ report: AdvertisingReport, to controller: Int, at instant: Instant) {
        typealias Report = HCI.LEExtendedAdvertisingReport
        var offset = 0
        repeat {
            let end = min(offset + Self.fragmentLimit, report.data.count)
            let status: Report.DataStatus =
                end < report.data.count ? .incomplete : report.isTruncated ? .truncated : .complete
            let flags = Report.EventType(rawValue: report.kind.rawValue)
            let fragment = Report.Report(
                type: Report.EventType(flags, data: status),
                address: report.address,
                primaryPHY: PHY(wire: report.primary.number),
                secondaryPHY: report.secondary.map { PHY(wire: $0.number) } ?? .none,
                sid: report.dataInfo.map { AdvertisingSID(wire: $0.set) } ?? .none,
                power: report.power.map { TransmitPower(dBm: Int8(clamping: $0)) } ?? .unavailable,
                rssi: RSSI(dBm: Int8(clamping: report.strength)),
                target: report.target ?? .none,
                data: Array(report.data[offset..<end])
            )
            emit(.leExtendedAdvertisingReport(.init(reports: [fragment])), to: controller, at: instant)
            offset = end
        } while offset < report.data.count
    }

    /// Reports to a host that one of its advertising sets has stopped, because of `end` or, if `end` is `nil`, because
    /// a central has connected.
    ///
    /// The event contains the number of completed advertising events only if the set was enabled with a limit on events
    /// and has reached this limit or the end of its duration. Otherwise, the number is zero.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.18.
    mutating func sendSetTerminated(
        _ controller: Int,
        _ set: AdvertisingSet,
        _ end: AdvertisingEnd?,
        connection: ConnectionHandle?,
        at instant: Instant
    ) {
        let status: HCI.Status =
            switch end {
            case .advertisingTimeout?: .advertisingTimeout
            case .limitReached?: .limitReached
            case nil: .success
            }
        guard let handle = AdvertisingHandle(wire: set.handle) else { return }
        let event = HCI.LEAdvertisingSetTerminated(
            status: status,
            set: handle,
            handle: connection ?? .lowest,
            completedEvents: end != nil && set.hasEventLimit ? UInt8(clamping: set.events) : 0
        )
        emit(.leAdvertisingSetTerminated(event), to: controller, at: instant)
    }

    /// Reports to a host that its high duty cycle directed advertising has ended without a connection.
    mutating func sendDirectedTimeout(_ controller: Int, peer: DeviceAddress, at instant: Instant) {
        sendConnectionFailure(.advertisingTimeout, peer: peer, .peripheral, controller, at: instant)
    }

    /// Reports to an advertiser's host that a scanner has sent a scan request.
    mutating func sendScanRequest(_ controller: Int, _ set: UInt8, scanner: DeviceAddress, at instant: Instant) {
        guard let handle = AdvertisingHandle(wire: set) else { return }
        emit(.leScanRequestReceived(.init(set: handle, scanner: scanner)), to: controller, at: instant)
    }
}
