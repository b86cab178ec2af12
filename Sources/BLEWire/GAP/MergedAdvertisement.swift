/// What an advertisement and its scan response say together.
///
/// Each packet is decoded by itself, and their fields are merged type by type:
///
/// | field | merged value |
/// | --- | --- |
/// | local name | The first complete name, else the first shortened one. Empty names do not count. |
/// | services, solicited services | The lists of both packets, without duplicates. |
/// | service data | One value for each service: the last one. |
/// | transmit power | The first value. |
/// | manufacturer data | The advertisement's, followed by the scan response's without its company identifier. |
///
/// Manufacturer data of a scan response that has another company identifier are left out if the advertisement has
/// manufacturer data: each company has a format of its own, and an app that knows one of them would read the octets of
/// the other as a part of it.
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
    /// The power at which the packets were sent, in dBm.
    package var transmitPower: Int8? { structures.transmitPower }

    /// The data of services, each service once, in the order in which the services appear first.
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
