import BLEHost
public import CoreBluetooth

extension CBCentralManager {
    /// Scans as long as somebody iterates over what comes back, and tells the delegate, too.
    ///
    /// A manager has one scan: another one, begun in this or the ordinary way, takes its place. The sequence ends with
    /// its scan: then, with `stopScan()`, or when the manager's state is no longer `.poweredOn`. Scanning ends when the
    /// task that iterates is cancelled or drops the sequence, unless another scan has taken the place of this one.
    ///
    /// - Parameters:
    ///   - filter: Which devices to tell of.
    ///   - limit: How many discoveries wait for somebody who is slow; the newest are kept.
    /// - Returns: The devices that are found.
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
                let peripheral = self.peripheral(heardBy: report)
                let discovery = Discovery(peripheral: peripheral, advertisement: Advertisement(report))
                continuation.yield(discovery)
            }
            continuation.onTermination = { _ in
                self.observers.remove(id)
                self.stopScan(number)
            }
            // Another thread may have ended it before anybody listened.
            whenScanEnds(number) { continuation.finish() }
        }
        if state != .poweredOn { continuation.finish() }
        return stream
    }
}
