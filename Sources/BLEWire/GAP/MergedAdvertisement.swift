/// The merged fields of an advertisement and its scan response.
///
/// The two packets are decoded separately. Then the fields of each type are merged:
///
/// | field | merged value |
/// | --- | --- |
/// | local name | The first complete name, otherwise the first shortened name. Empty names do not count. |
/// | services, solicited services | The lists of both packets, without duplicates. |
/// | service data | For each service, its last data. |
/// | transmit power | The first value. |
/// | manufacturer data | That of the advertisement, then that of the scan response without company identifier. |
///
/// If both packets have manufacturer data with different company identifiers, the manufacturer data of the scan
/// response is left out. Each company has its own format, and an app that knows one of the formats would misread the
/// octets in the other.
///
/// Core 6.0, Vol 3, Part C, 11; Core Specification Supplement 11, Part A, 1.
package struct MergedAdvertisement: Sendable {
    /// The structures of the advertisement, followed by those of the scan response.
    package let structures: AdvertisingData
    package let manufacturerData: [UInt8]?

    package init(_ octets: AdvertisementOctets) {
        let all = octets.all.span, length = octets.advertisementLength
        let advertisement = AdvertisingData(decoding: all.extracting(first: length))
        let response = AdvertisingData(decoding: all.extracting(droppingFirst: length))
        structures = AdvertisingData(advertisement.structures + response.structures)
        manufacturerData = Self.join(advertisement.manufacturerData, response.manufacturerData)
    }

    package var localName: String? { structures.localName }
    package var serviceUUIDs: [BluetoothUUID] { structures.serviceUUIDs }
    package var solicitedServiceUUIDs: [BluetoothUUID] { structures.solicitedServiceUUIDs }
    /// The transmit power that the packets state, in dBm; `nil` if they state none.
    package var transmitPower: Int8? { structures.transmitPower }

    /// The data of services, one entry for each service, in order of first appearance.
    ///
    /// If a service occurs several times, its last data is used.
    package var serviceData: [AdvertisingData.ServiceData] {
        var merged: [AdvertisingData.ServiceData] = [], places: [BluetoothUUID: Int] = [:]
        for item in structures.serviceData {
            if let place = places[item.service] {
                merged[place] = item
            } else {
                places[item.service] = merged.count
                merged.append(item)
            }
        }
        return merged
    }

    private static func join(_ advertised: [UInt8]?, _ answered: [UInt8]?) -> [UInt8]? {
        guard let advertised, let answered else { return advertised ?? answered }
        return advertised.prefix(2) == answered.prefix(2) ? advertised + answered.dropFirst(2) : advertised
    }
}
