import BLEWire

/// What goes on the air for what clients want to advertise.
///
/// What is within the ``AdvertisementBudget`` of an app is for everybody. Services beyond that go into an
/// ``OverflowArea``, and so do those of apps in the background.
///
/// On the air, where each head counts, an advertisement has room for 28 octets beside its flags, and a scan response
/// for 31. As much as possible is in the advertisement; the rest, a part of a list of services if need be, is in the
/// scan response, and whoever scans sees both together. Everything within the budget of Core Bluetooth finds its place
/// so, but for one case: an overflow area of 21 octets beside much else. Then as many services as needed, the last ones
/// first, are in the area instead.
///
/// Core 6.0, Vol 3, Part C, 11; Core Specification Supplement 11, Part A, 1.
struct AdvertisementContent: Equatable, Sendable {
    let advertisement: [UInt8]
    let scanResponse: [UInt8]
    /// How it is sent.
    let parameters: AdvertisingParameters

    /// Finds a place for `request`, and one where only those look who know them for `hidden`.
    ///
    /// It is sent as `parameters` say, if the request says nothing of that.
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
                preconditionFailure("a name and an overflow area fit into an advertisement and a scan response")
            }
            overflow.append(last)
        }
    }

    init(advertisement: [UInt8], scanResponse: [UInt8], parameters: AdvertisingParameters) {
        self.advertisement = advertisement
        self.scanResponse = scanResponse
        self.parameters = parameters
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

extension OverflowArea {
    fileprivate var structure: AdvertisingData.Structure { .init(.manufacturerData, manufacturerData) }
}
