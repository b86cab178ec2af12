import CoreBluetooth.CBATTRequest
import CoreBluetooth.CBAdvertisementData
import CoreBluetooth.CBCentral
import CoreBluetooth.CBCentralManager
import CoreBluetooth.CBCharacteristic
import CoreBluetooth.CBError
import CoreBluetooth.CBL2CAPChannel
import CoreBluetooth.CBManager
import CoreBluetooth.CBPeripheral
import CoreBluetooth.CBPeripheralManager
import CoreBluetooth.CBService
import CoreBluetooth.CBUUID

import class CoreBluetooth.CBCentralManager
import struct CoreBluetooth.CBCharacteristicProperties
import let CoreBluetooth.CBErrorDomain
import enum CoreBluetooth.CBManagerState
import protocol CoreBluetooth.CBPeripheralDelegate

/// Names of submodules, of single declarations, and of what comes along: Foundation and Dispatch.
struct Imported {
    let queue: dispatch_queue_t = DispatchQueue(label: "imported")
    let identifier = CoreBluetooth.CBUUID(string: "180D")
    let moment: CFAbsoluteTime = Date().timeIntervalSinceReferenceDate
    let psm: CBL2CAPPSM = 0x80
    var state: CoreBluetooth.CBManagerState = .unknown
    var properties: CBCharacteristicProperties = [.read, .notify]

    func isOurs(_ error: NSError) -> Bool { error.domain == CoreBluetooth.CBErrorDomain }
}
