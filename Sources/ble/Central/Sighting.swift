import CoreBluetooth

/// A peripheral that was seen advertising.
struct Sighting {
    let peripheral: CBPeripheral
    let advertisement: [String: Any]
    /// dBm; 127 if it is not known.
    let rssi: Int

    /// What it advertises as its name, which is what it is called now; else what is known from earlier.
    var name: String? { advertisement[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name }
    var isConnectable: Bool { (advertisement[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue ?? false }
    var services: [CBUUID] { advertisement[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? [] }
    var manufacturerData: Data? { advertisement[CBAdvertisementDataManufacturerDataKey] as? Data }
    var serviceData: [CBUUID: Data] { advertisement[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:] }

    /// How strong it says that it sends, in dBm.
    var statedPower: Int? { (advertisement[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue }
}
