/// A builder for advertising data with a maximum length, which reports the fields that do not fit.
///
/// Core 6.0, Vol 3, Part C, 11.
package struct AdvertisingDataBuilder: Sendable {
    /// The maximum length of the data, in octets.
    package let capacity: Int
    package private(set) var data = AdvertisingData()

    /// Creates a builder with a capacity such as ``AdvertisingData/maximumLegacyLength``.
    package init(capacity: Int) { self.capacity = capacity }

    /// The number of octets that are left for more structures, including their length and type octets.
    package var room: Int { capacity - data.encodedLength }

    /// Adds a structure if it fits.
    ///
    /// - Returns: True if the structure fits.
    package mutating func append(_ structure: AdvertisingData.Structure) -> Bool {
        guard structure.encodedLength <= room else { return false }
        data = AdvertisingData(data.structures + [structure])
        return true
    }

    /// Adds flags; returns false if they do not fit.
    package mutating func append(flags: ADFlags) -> Bool { append(.init(.flags, [flags.rawValue])) }

    /// Adds service data; returns false if it does not fit.
    package mutating func append(serviceData: AdvertisingData.ServiceData) -> Bool {
        let type: ADType =
            switch serviceData.service {
            case .short: .serviceData16
            case .medium: .serviceData32
            case .long: .serviceData128
            }
        let octets = serviceData.service.octets + serviceData.data
        guard octets.count <= AdvertisingData.Structure.maximumDataLength else { return false }
        return append(.init(type, octets))
    }

    /// Adds manufacturer data, which starts with the two octets of the company identifier; returns false if it does not
    /// fit.
    package mutating func append(manufacturerData: [UInt8]) -> Bool {
        guard manufacturerData.count <= AdvertisingData.Structure.maximumDataLength else { return false }
        return append(.init(.manufacturerData, manufacturerData))
    }

    /// Adds the transmit power in dBm (Tx Power Level); returns false if it does not fit.
    ///
    /// Core Specification Supplement, Part A, 1.5.
    package mutating func append(statedPower power: Int8) -> Bool {
        append(.init(.transmitPower, [UInt8(bitPattern: power)]))
    }

    /// Adds as many service UUIDs as fit.
    ///
    /// Each UUID keeps its form of 16, 32 or 128 bits, and all UUIDs of one length are in one list.
    ///
    /// If a service does not fit, the list that lacks it is marked as incomplete.
    ///
    /// - Returns: The services that did not fit, in the given order.
    package mutating func append(services uuids: [BluetoothUUID]) -> [BluetoothUUID] {
        let limit = AdvertisingData.Structure.maximumDataLength
        var lists = [UUIDList(octets: 2), UUIDList(octets: 4), UUIDList(octets: 16)]
        var left: [BluetoothUUID] = [], used = 0
        for uuid in uuids {
            let octets = uuid.octets
            for index in lists.indices where lists[index].octets == octets.count {
                let cost = octets.count + (lists[index].data.isEmpty ? 2 : 0)
                if used + cost <= room, lists[index].data.count + octets.count <= limit {
                    lists[index].data += octets
                    used += cost
                } else {
                    lists[index].isComplete = false
                    left.append(uuid)
                }
            }
        }
        for list in lists where !list.data.isEmpty { _ = append(.init(list.type, list.data)) }
        return left
    }

    /// The result of adding a name.
    package enum OnName: Equatable, Sendable { case complete, shortened, omitted }

    /// Adds a name, or as many of its characters as fit, or nothing if not even one character fits.
    package mutating func append(localName: String) -> OnName {
        let limit = min(room - 2, AdvertisingData.Structure.maximumDataLength)
        let octets = [UInt8](localName.utf8)
        if octets.count <= limit { return append(.init(.completeLocalName, octets)) ? .complete : .omitted }
        var beginning: [UInt8] = []
        for character in localName {
            let addition = [UInt8](String(character).utf8)
            guard beginning.count + addition.count <= limit else { break }
            beginning += addition
        }
        guard !beginning.isEmpty, append(.init(.shortenedLocalName, beginning)) else { return .omitted }
        return .shortened
    }

    private struct UUIDList {
        let octets: Int
        var data: [UInt8] = []
        var isComplete = true

        var type: ADType {
            switch octets {
            case 2: isComplete ? .completeServiceUUIDs16 : .incompleteServiceUUIDs16
            case 4: isComplete ? .completeServiceUUIDs32 : .incompleteServiceUUIDs32
            default: isComplete ? .completeServiceUUIDs128 : .incompleteServiceUUIDs128
            }
        }
    }
}
