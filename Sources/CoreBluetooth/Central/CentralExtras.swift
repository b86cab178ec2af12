package import BLEHost
import BLERuntime
package import BLEWire
import Foundation

// What `CoreBluetoothExtras` needs of centrals and their peripherals.
extension CBCentralManager {
    /// Scans like ``scanForPeripherals(withServices:options:)``, with all parameters of the host.
    ///
    /// - Parameters:
    ///   - request: The scan request.
    ///   - prepare: Called with the number of the scan before its first event.
    package func scan(_ request: ScanRequest, prepare: (UInt32) -> Void) {
        guard acceptsCommands() else { return }
        begin(request, prepare: prepare)
    }

    /// Stops the scan with this number, unless it has ended or was replaced.
    package func stopScan(_ number: UInt32) {
        if state == .poweredOn { endScan { $0 == number } }
    }

    /// Calls `tell` when the scan with this number has ended for any reason; immediately if it already has.
    package func whenScanEnds(_ number: UInt32, _ tell: @escaping @Sendable () -> Void) {
        let isThere = content.withLock { content in
            guard content.scan != nil, content.scanNumber == number else { return false }
            content.scanEnd = tell
            return true
        }
        if !isThere { tell() }
    }

    /// Returns whether discovered devices belong to the scan with this number.
    package func hasBegun(_ number: UInt32) -> Bool {
        content.withLock { $0.hasScanBegun && $0.scanNumber == number }
    }

    /// Connects like ``connect(_:options:)``, with all parameters of the host.
    package func connect(_ peripheral: CBPeripheral, _ request: ConnectRequest) {
        guard acceptsCommands(), accepts(peripheral) else { return }
        peripheral.connect(request)
    }

    /// Returns the object for the sender of an advertisement, updated with it.
    package func peripheral(heardBy report: AdvertisementReport) -> CBPeripheral {
        let peripheral = peripheral(report.peer, name: report.name)
        peripheral.heard(report)
        return peripheral
    }
}

extension CBPeripheral {
    /// The controller's information about the connection; `nil` if there is none.
    package var linkDetails: LinkDetails? { record.withLock { $0.link.acceptsRequests ? $0.details : nil } }

    /// The last received advertisement.
    package var lastReport: AdvertisementReport? { record.withLock { $0.report } }

    /// The last known address of the device.
    package var deviceAddress: DeviceAddress? {
        record.withLock { $0.lastAddress ?? $0.report?.address }
    }

    /// The manager that this object belongs to.
    package var manager: CBCentralManager? { reference.manager as? CBCentralManager }

    /// Requests a change of the connection parameters.
    package func tune(_ tuning: LinkTuning) { request(.tune(tuning)) }

    /// Makes the host drop what it has discovered of the device's attributes.
    package func forgetDatabase() { request(.forgetDatabase) }
}

extension CBService {
    /// The handle range on the peripheral, as in events.
    package var handleRange: AttributeHandleRange? { range }
}

extension CBCharacteristic {
    /// The handle of the value on the peripheral, as in events.
    package var valueHandle: AttributeHandle? { handles?.value }
}

extension CBDescriptor {
    /// The handle of the descriptor on the peripheral, as in events.
    package var attributeHandle: AttributeHandle? { handle }
}

extension CBPeripheral {
    /// Returns whether `service` currently belongs to this peripheral.
    package func has(_ service: CBService) -> Bool { owns(service) }
    /// Returns whether `characteristic` currently belongs to this peripheral.
    package func has(_ characteristic: CBCharacteristic) -> Bool { owns(characteristic) }
    /// Returns whether `descriptor` currently belongs to this peripheral.
    package func has(_ descriptor: CBDescriptor) -> Bool { owns(descriptor) }
}

extension CBUUID {
    /// The type in the host's form.
    package var hostValue: BluetoothUUID { value }
}
