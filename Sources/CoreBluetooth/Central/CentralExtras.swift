package import BLEHost
import BLERuntime
package import BLEWire
import Foundation

// What `CoreBluetoothExtras` needs of centrals and their peripherals.
extension CBCentralManager {
    /// Scans as ``scanForPeripherals(withServices:options:)`` does, with all that a host can be asked for.
    ///
    /// - Parameters:
    ///   - request: What to scan for.
    ///   - prepare: Is told the number of the scan, before anything can come of it.
    package func scan(_ request: ScanRequest, prepare: (UInt32) -> Void) {
        guard acceptsCommands() else { return }
        begin(request, prepare: prepare)
    }

    /// Ends the scan with this number, unless it has ended or another has taken its place.
    package func stopScan(_ number: UInt32) {
        if state == .poweredOn { endScan { $0 == number } }
    }

    /// Calls `tell` when the scan with this number has ended, whoever ends it; at once if it has.
    package func whenScanEnds(_ number: UInt32, _ tell: @escaping @Sendable () -> Void) {
        let isThere = content.withLock { content in
            guard content.scan != nil, content.scanNumber == number else { return false }
            content.scanEnd = tell
            return true
        }
        if !isThere { tell() }
    }

    /// Whether what is discovered now is of the scan with this number.
    package func hasBegun(_ number: UInt32) -> Bool {
        content.withLock { $0.hasScanBegun && $0.scanNumber == number }
    }

    /// Connects as ``connect(_:options:)`` does, with all that a host can be asked for.
    package func connect(_ peripheral: CBPeripheral, _ request: ConnectRequest) {
        guard acceptsCommands(), accepts(peripheral) else { return }
        peripheral.connect(request)
    }

    /// The object that stands for the sender of an advertisement, which knows of it.
    package func peripheral(heardBy report: AdvertisementReport) -> CBPeripheral {
        let peripheral = peripheral(report.peer, name: report.name)
        peripheral.heard(report)
        return peripheral
    }
}

extension CBPeripheral {
    /// What the controller has told of the connection; `nil` if there is none.
    package var linkDetails: LinkDetails? { record.withLock { $0.link.acceptsRequests ? $0.details : nil } }

    /// The advertisement that was heard last.
    package var lastReport: AdvertisementReport? { record.withLock { $0.report } }

    /// Where the device was reached last.
    package var deviceAddress: DeviceAddress? {
        record.withLock { $0.lastAddress ?? $0.report?.address }
    }

    /// The manager that this belongs to.
    package var manager: CBCentralManager? { reference.manager as? CBCentralManager }

    /// Asks for a change of the connection.
    package func tune(_ tuning: LinkTuning) { request(.tune(tuning)) }

    /// Has the host forget what it has learnt of the device's attributes.
    package func forgetDatabase() { request(.forgetDatabase) }
}

extension CBService {
    /// Where the service lies in its peripheral's database, as events name it.
    package var handleRange: AttributeHandleRange? { range }
}

extension CBCharacteristic {
    /// Where the value lies in its peripheral's database, as events name it.
    package var valueHandle: AttributeHandle? { handles?.value }
}

extension CBDescriptor {
    /// Where the descriptor lies in its peripheral's database, as events name it.
    package var attributeHandle: AttributeHandle? { handle }
}

extension CBPeripheral {
    /// Whether `service` is one that this peripheral has now.
    package func has(_ service: CBService) -> Bool { owns(service) }
    /// Whether `characteristic` is one that this peripheral has now.
    package func has(_ characteristic: CBCharacteristic) -> Bool { owns(characteristic) }
    /// Whether `descriptor` is one that this peripheral has now.
    package func has(_ descriptor: CBDescriptor) -> Bool { owns(descriptor) }
}

extension CBUUID {
    /// The type as the host knows it.
    package var hostValue: BluetoothUUID { value }
}
