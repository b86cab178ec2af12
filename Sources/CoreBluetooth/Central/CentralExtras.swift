package import BLEHost
import BLERuntime
package import BLEWire
import Foundation

// The part of centrals and their peripherals that only `CoreBluetoothExtras` uses.
extension CBCentralManager {
    /// Scans like ``scanForPeripherals(withServices:options:)``, but with all parameters that the host supports.
    ///
    /// - Parameters:
    ///   - request: The parameters of the scan.
    ///   - prepare: Called with the number of the scan, before the manager receives the scan's first event.
    package func scan(_ request: ScanRequest, prepare: (UInt32) -> Void) {
        guard acceptsCommands() else { return }
        begin(request, prepare: prepare)
    }

    /// Stops the scan with this number, unless it has already ended or been replaced.
    package func stopScan(_ number: UInt32) {
        if state == .poweredOn { endScan { $0 == number } }
    }

    /// Calls `body` when the scan with this number has ended for any reason; immediately if it already has.
    package func whenScanEnds(_ number: UInt32, _ body: @escaping @Sendable () -> Void) {
        let isThere = content.withLock { content in
            guard content.scan != nil, content.scanNumber == number else { return false }
            content.scanEnd = body
            return true
        }
        if !isThere { body() }
    }

    /// Returns true if the scan with this number is the current one and has begun, so that devices discovered now
    /// belong to it.
    package func hasBegun(_ number: UInt32) -> Bool {
        content.withLock { $0.hasScanBegun && $0.scanNumber == number }
    }

    /// Connects like ``connect(_:options:)``, but with all parameters that the host supports.
    ///
    /// - Returns: True if the request was accepted. If it was not, no event follows.
    package func connect(_ peripheral: CBPeripheral, _ request: ConnectRequest) -> Bool {
        guard acceptsCommands(), accepts(peripheral) else { return false }
        peripheral.connect(request)
        return true
    }

    /// Ends the connection like ``cancelPeripheralConnection(_:)``.
    ///
    /// - Returns: True if the request was accepted. If it was not, no event follows.
    package func endConnection(to peripheral: CBPeripheral) -> Bool {
        guard acceptsCommands(), accepts(peripheral) else { return false }
        peripheral.cancelConnection()
        return true
    }

    /// The number of advertising reports that the app has lost because it is too slow.
    package var droppedReports: UInt64 { session.droppedReports }

    /// Returns the object for the sender of an advertisement, after updating it from the advertisement.
    package func peripheral(from report: AdvertisementReport) -> CBPeripheral {
        let peripheral = peripheral(report.peer, name: report.name)
        peripheral.noteAdvertisement(report)
        return peripheral
    }
}

extension CBPeripheral {
    /// The details of the connection, as reported by the controller; `nil` if there is no connection.
    package var linkDetails: LinkDetails? { record.withLock { $0.link.acceptsRequests ? $0.details : nil } }

    /// The last received advertisement; `nil` if there was none.
    package var lastReport: AdvertisementReport? { record.withLock { $0.report } }

    /// The last known address of the device; `nil` if none is known.
    package var deviceAddress: DeviceAddress? {
        record.withLock { $0.lastAddress ?? $0.report?.address }
    }

    /// The manager that this object belongs to; `nil` after the manager has been released.
    package var manager: CBCentralManager? { reference.manager as? CBCentralManager }

    /// The ATT MTU of the connection, in octets; 23 if there is no connection.
    package var mtu: Int { record.withLock { $0.mtu } }
}

extension CBService {
    /// The handle range on the peripheral, by which host events identify the service; `nil` for a local service.
    package var handleRange: AttributeHandleRange? { range }
}

extension CBCharacteristic {
    /// The handle of the value on the peripheral, by which host events identify the characteristic; `nil` for a local
    /// characteristic.
    package var valueHandle: AttributeHandle? { handles?.value }
}

extension CBDescriptor {
    /// The handle on the peripheral, by which host events identify the descriptor; `nil` for a local descriptor.
    package var attributeHandle: AttributeHandle? { handle }
}

extension CBPeripheral {
    /// Returns whether `characteristic` currently belongs to this peripheral.
    package func has(_ characteristic: CBCharacteristic) -> Bool { owns(characteristic) }
}

extension CBUUID {
    /// The UUID as the host represents it.
    package var hostValue: BluetoothUUID { value }
}
