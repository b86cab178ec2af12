import BLEWire

/// What goes on the air for what clients want to advertise.
///
/// | part | room | holds |
/// | --- | --- | --- |
/// | advertisement | 3 octets | flags |
/// | advertisement | 28 octets | services in the form and order given, and then the name, if it fits whole |
/// | scan response | 12 octets | otherwise the name, cut after 10 octets |
/// | scan response | 21 octets | services that did not fit, as ``OverflowArea`` |
///
/// These are the budgets of Core Bluetooth for apps in the foreground. The overflow area and a cut name of more than
/// eight octets do not fit together into the 31 octets of a scan response: then the area is left out.
///
/// Core 6.0, Vol 3, Part C, 11; Core Specification Supplement 11, Part A, 1.
struct AdvertisementContent: Equatable, Sendable {
    /// How many octets of a name the scan response takes.
    static let nameLimit = 10

    let advertisement: [UInt8]
    let scanResponse: [UInt8]
    /// Services that found no room at all.
    let left: [BluetoothUUID]
    /// What the client asked for beyond what apps can.
    let broadcast: BroadcastRequest?

    init(_ request: AdvertisingRequest) {
        if let broadcast = request.broadcast { self.init(request, broadcast) } else { self.init(app: request) }
    }

    private init(app request: AdvertisingRequest) {
        broadcast = nil
        var advertisement = AdvertisingDataBuilder(capacity: AdvertisingData.maximumLegacyLength)
        let hasFlags = advertisement.append(flags: [.generalDiscoverable, .classicNotSupported])
        precondition(hasFlags, "flags are the first structure, so there is room")
        let overflow = advertisement.append(services: request.services)
        var name: AdvertisingDataBuilder?
        if let localName = request.localName, !localName.isEmpty {
            let isWhole =
                localName.utf8.count + 2 <= advertisement.room
                && advertisement.append(localName: localName) == .complete
            if !isWhole {
                var builder = AdvertisingDataBuilder(capacity: 2 + Self.nameLimit)
                if builder.append(localName: localName) != .omitted { name = builder }
            }
        }
        var response = AdvertisingDataBuilder(capacity: AdvertisingData.maximumLegacyLength)
        for structure in name?.data.structures ?? [] { _ = response.append(structure) }
        let area = OverflowArea(overflow).manufacturerData
        left = overflow.isEmpty || response.append(manufacturerData: area) ? [] : overflow
        self.advertisement = advertisement.data.encoded
        scanResponse = response.data.encoded
    }

    init(advertisement: [UInt8], scanResponse: [UInt8], broadcast: BroadcastRequest) {
        self.advertisement = advertisement
        self.scanResponse = scanResponse
        self.broadcast = broadcast
        left = []
    }

    /// What several clients want to advertise together: all services, and the name of the first that has one; and what
    /// the first wants that asked for more than apps can.
    static func merged(_ requests: [AdvertisingRequest]) -> AdvertisingRequest {
        var services: [BluetoothUUID] = []
        for service in requests.flatMap(\.services) where !services.contains(service) { services.append(service) }
        return AdvertisingRequest(
            localName: requests.lazy.compactMap(\.localName).first,
            services: services,
            broadcast: requests.lazy.compactMap(\.broadcast).first
        )
    }
}
