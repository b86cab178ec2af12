import BLEHost
import BLEWire
import Foundation

extension AdvertisementReport {
    /// The key for the time at which the advertisement was received.
    ///
    /// Apple's systems provide it, but do not document it.
    static var timestampKey: String { "kCBAdvDataTimestamp" }

    /// Returns the advertisement data for an app that runs `scan`, without the time of reception.
    ///
    /// Returns `nil` if the advertisement does not match the scan. The host may have found it for an earlier scan with
    /// other services.
    ///
    /// The data lists a service in the overflow area only if the app scans for that service.
    func dictionary(for scan: ScanRequest) -> [String: Any]? {
        let data = MergedAdvertisement(octets)
        guard scan.matches(data) else { return nil }
        var dictionary: [String: Any] = [
            CBAdvertisementDataIsConnectable: NSNumber(value: isConnectable)
        ]
        if let name = data.localName { dictionary[CBAdvertisementDataLocalNameKey] = name }
        if let power = data.transmitPower {
            dictionary[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: power)
        }
        if let maker = data.manufacturerData { dictionary[CBAdvertisementDataManufacturerDataKey] = Data(maker) }
        let services = data.serviceUUIDs, solicited = data.solicitedServiceUUIDs
        if !services.isEmpty { dictionary[CBAdvertisementDataServiceUUIDsKey] = services.map(CBUUID.init) }
        if !solicited.isEmpty {
            dictionary[CBAdvertisementDataSolicitedServiceUUIDsKey] = solicited.map(CBUUID.init)
        }
        let overflow = OverflowArea(in: data.structures)
        let hidden = scan.services.filter { !services.contains($0) && overflow?.contains($0) == true }
        if !hidden.isEmpty { dictionary[CBAdvertisementDataOverflowServiceUUIDsKey] = hidden.map(CBUUID.init) }
        let serviceData = data.serviceData
        if !serviceData.isEmpty {
            dictionary[CBAdvertisementDataServiceDataKey] = Dictionary(
                serviceData.map { (CBUUID($0.service), Data($0.data)) },
                uniquingKeysWith: { _, latest in latest }
            )
        }
        return dictionary
    }
}

extension RSSI {
    /// One shared number object for each signal strength, because every advertisement needs one.
    private static let numbers = (UInt8.min...UInt8.max).map { NSNumber(value: RSSI(wire: $0).dBm ?? 127) }

    /// The signal strength in dBm for apps; 127 if it is unknown.
    var number: NSNumber { Self.numbers[Int(wire)] }
}
