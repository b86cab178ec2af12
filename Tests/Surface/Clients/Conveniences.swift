import CoreBluetooth

/// Uses what Foundation and Dispatch of Apple's systems have beside their own: constants of time, moments, and pools.
final class PacedWriter {
    private let peripheral: CBPeripheral
    private let started = CFAbsoluteTimeGetCurrent()

    init(_ peripheral: CBPeripheral) { self.peripheral = peripheral }

    var deadline: DispatchTime { DispatchTime(uptimeNanoseconds: DispatchTime.now().uptimeNanoseconds + NSEC_PER_SEC) }

    var elapsed: CFTimeInterval { CFAbsoluteTimeGetCurrent() - started }

    func pause(_ interval: TimeInterval) -> DispatchTimeInterval {
        .microseconds(Int(interval * TimeInterval(USEC_PER_SEC)))
    }

    func nanoseconds(milliseconds: UInt64) -> UInt64 { milliseconds * NSEC_PER_MSEC }

    func milliseconds(_ seconds: UInt64) -> UInt64 { seconds * MSEC_PER_SEC + NSEC_PER_USEC / NSEC_PER_MSEC }

    func chunks(of data: Data) -> [Data] {
        let length = peripheral.maximumWriteValueLength(for: .withoutResponse)
        return autoreleasepool {
            stride(from: 0, to: data.count, by: length).map { data.dropFirst($0).prefix(length) }
        }
    }

    func send(_ data: Data, to characteristic: CBCharacteristic, checked check: (Data) throws -> Void) rethrows {
        try autoreleasepool {
            try check(data)
            peripheral.writeValue(data, for: characteristic, type: .withResponse)
        }
    }
}
