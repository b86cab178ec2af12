import BLEWire

/// The advertising data and scan response data for clients' requests.
///
/// Everything within an app's ``AdvertisementBudget`` is visible to all devices. Further services, and those of apps in
/// the background, are put into an ``OverflowArea``.
///
/// In a packet, the header of each field counts, too: an advertisement has room for 28 octets besides its flags, and a
/// scan response for 31. The advertisement contains as much as possible, and the scan response the rest. A list of
/// services may be divided between the two; a scanner sees both parts. Everything within Core Bluetooth's limits fits,
/// unless an overflow area takes 21 octets of the room. In that case, services are moved to the overflow area, the last
/// one first, until the rest fits.
///
/// Core 6.0, Vol 3, Part C, 11; Core Specification Supplement 11, Part A, 1.
struct AdvertisementContent: Equatable, Sendable {
    let advertisement: [UInt8]
    let scanResponse: [UInt8]
    let parameters: AdvertisingParameters

    /// Creates the content for a request.
    ///
    /// - Parameters:
    ///   - request: The services and name that all devices can see.
    ///   - hidden: Services for the overflow area. Only devices that scan for these services can find them.
    ///   - parameters: The advertising parameters, unless the request has its own.
    init(
        _ request: AdvertisingRequest,
        hiding hidden: [BluetoothUUID] = [],
        sent parameters: AdvertisingParameters = AdvertisingParameters()
    ) {
        if let broadcast = request.broadcast {
            self.init(request, broadcast)
        } else {
            self.init(app: request, hiding: hidden, sent: parameters)
        }
    }

    private init(
        app request: AdvertisingRequest,
        hiding hidden: [BluetoothUUID],
        sent parameters: AdvertisingParameters
    ) {
        self.parameters = parameters
        let budget = AdvertisementBudget(services: request.services, localName: request.localName)
        var visible = budget.services
        var overflow = hidden.filter { !request.services.contains($0) } + budget.excess
        while true {
            let split = AdvertisementSplit.best(
                services: visible,
                overflow: overflow,
                name: budget.name,
                area: overflow.isEmpty ? nil : OverflowArea(overflow).structure
            )
            if let split {
                advertisement = split.advertisement.data.encoded
                scanResponse = split.scanResponse.data.encoded
                return
            }
            guard let last = visible.popLast() else {
                preconditionFailure("a name and an overflow area must fit into the two packets")
            }
            overflow.append(last)
        }
    }

    init(advertisement: [UInt8], scanResponse: [UInt8], parameters: AdvertisingParameters) {
        self.advertisement = advertisement
        self.scanResponse = scanResponse
        self.parameters = parameters
    }

    /// Merges the requests of several clients: all services, and the name and the options beyond Core Bluetooth from
    /// the first request that has them.
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

extension OverflowArea {
    fileprivate var structure: AdvertisingData.Structure { .init(.manufacturerData, manufacturerData) }
}
