import BLEHost
public import CoreBluetooth

extension CBCentralManager {
    /// The number of advertising reports that this manager has lost because the app is too slow.
    ///
    /// If more than 1,024 events wait for the manager's queue, the oldest reports are dropped, but no other events. The
    /// daemon drops reports if the app's process does not read fast enough; the number includes these once the next
    /// event has arrived. Each burst of losses is also logged once.
    ///
    /// An app that must not lose reports should return sooner from its delegate methods, or scan for fewer devices. The
    /// number never decreases. It can be read on any thread.
    public var droppedReportCount: Int { Int(clamping: droppedReports) }

    /// Starts a scan, and returns the discovered devices as a sequence.
    ///
    /// The delegate is called as well.
    ///
    /// A manager has only one scan at a time: a later scan replaces this one, even if it is started with
    /// `scanForPeripherals`. The sequence ends when its scan is replaced, when `stopScan()` is called, or when the
    /// manager is no longer `.poweredOn`. The scan ends when the iterating task is cancelled or drops the sequence,
    /// unless another scan has replaced it.
    ///
    /// - Parameters:
    ///   - filter: The devices to report.
    ///   - limit: The maximum number of discoveries that wait for a slow reader; the newest are kept.
    /// - Returns: The discovered devices.
    public func discoveries(
        _ filter: ScanFilter = ScanFilter(),
        keeping limit: Int = 1024
    ) -> AsyncStream<Discovery> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Discovery.self,
            bufferingPolicy: .bufferingNewest(max(1, limit))
        )
        guard state == .poweredOn else {
            continuation.finish()
            return stream
        }
        scan(filter.request) { number in
            let id = observers.add { event in
                guard case .discovered(let report) = event, self.hasBegun(number) else { return }
                let peripheral = self.peripheral(from: report)
                let discovery = Discovery(peripheral: peripheral, advertisement: Advertisement(report))
                continuation.yield(discovery)
            }
            continuation.onTermination = { _ in
                self.observers.remove(id)
                self.stopScan(number)
            }
            // Another thread may have ended the scan before this closure was set.
            whenScanEnds(number) { continuation.finish() }
        }
        if state != .poweredOn { continuation.finish() }
        return stream
    }
}
