import BLEHost
public import CoreBluetooth

extension CBCentralManager {
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
