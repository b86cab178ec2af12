import BLEHost
public import CoreBluetooth

extension CBCentralManager {
    /// Scans as long as somebody iterates over what comes back, and tells the delegate, too.
    ///
    /// A manager has one scan: another one, begun in this or the ordinary way, takes its place. The sequence ends when
    /// the manager's state is no longer `.poweredOn`, and scanning ends when the task that iterates is
    /// cancelled or drops the sequence.
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
        let central = Unchecked(self)
        let id = observers.add { event in
            switch event {
            case .discovered(let report) where central.object.hasScanBegun:
                let peripheral = central.object.peripheral(heardBy: report)
                let discovery = Discovery(peripheral: peripheral, advertisement: Advertisement(report))
                continuation.yield(Unchecked(discovery).object)
            case .stateChanged(let state) where state != .poweredOn: continuation.finish()
            default: break
            }
        }
        continuation.onTermination = { _ in
            central.object.observers.remove(id)
            if central.object.state == .poweredOn { central.object.stopScan() }
        }
        scan(filter.request)
        return stream
    }
}
