import CoreBluetooth

/// A model of what Apple documents about a scan.
///
/// Reports arrive only while the scan lasts, and only about the requested peripherals. Each peripheral is reported
/// once, and once more if its scan response adds data, unless the app allows duplicates.
struct ScanModel {
    let services: [CBUUID]
    let solicited: [CBUUID]
    let allowsDuplicates: Bool
    private var counts: [UUID: Int] = [:]

    init(services: [CBUUID]?, solicited: [CBUUID], allowsDuplicates: Bool) {
        self.services = services ?? []
        self.solicited = solicited
        self.allowsDuplicates = allowsDuplicates
    }

    /// Records that a peripheral was reported, with its advertised data and its RSSI in dBm.
    ///
    /// - Returns: A complaint if this report is not allowed; otherwise `nil`.
    mutating func discovered(_ peripheral: UUID, _ data: [String: Any], _ rssi: Int) -> String? {
        counts[peripheral, default: 0] += 1
        let count = counts[peripheral] ?? 0
        if !allowsDuplicates, count > 2 { return "discovered \(count) times in one scan" }
        guard rssi == 127 || (-127...20).contains(rssi) else { return "a signal of \(rssi) dBm" }
        if services.isEmpty { return nil }
        let advertised = [CBAdvertisementDataServiceUUIDsKey, CBAdvertisementDataOverflowServiceUUIDsKey]
            .flatMap { data[$0] as? [CBUUID] ?? [] }
        let wanted = data[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] ?? []
        let isMatch = services.contains(where: advertised.contains) || solicited.contains(where: wanted.contains)
        return isMatch ? nil : "discovered with \(advertised), which the scan does not search for"
    }

    func hasDiscovered(_ peripheral: UUID) -> Bool { counts[peripheral] != nil }
}
