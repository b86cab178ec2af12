import CoreBluetooth
import CoreBluetoothExtras

/// A peripheral that was discovered by scanning, with its advertisement.
struct ScannedPeripheral {
    let peripheral: CBPeripheral
    let advertisement: [String: Any]
    /// The signal strength in dBm; 127 if unknown.
    let rssi: Int
    /// The packets of the advertisement; `nil` if they are not known.
    let packets: Advertisement?

    /// Creates a scanned peripheral from the arguments of the delegate call that reports the discovery.
    ///
    /// Must be called during the delegate call, because ``packets`` is the advertisement that was received last.
    init(_ peripheral: CBPeripheral, advertisement: [String: Any], rssi: NSNumber) {
        self.peripheral = peripheral
        self.advertisement = advertisement
        self.rssi = rssi.intValue
        packets = peripheral.lastAdvertisement
    }

    /// The advertised name; if the peripheral does not advertise one, the name that this host knew before.
    ///
    /// `nil` if there is neither.
    var name: String? { advertisement[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name }
    var isConnectable: Bool { (advertisement[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue ?? false }
    var services: [CBUUID] { advertisement[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? [] }
    var manufacturerData: Data? { advertisement[CBAdvertisementDataManufacturerDataKey] as? Data }
    var serviceData: [CBUUID: Data] { advertisement[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:] }

    /// The advertised transmit power in dBm; `nil` if the peripheral advertises none.
    var statedPower: Int? { (advertisement[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue }
}
