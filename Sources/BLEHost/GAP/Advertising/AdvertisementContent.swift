import BLEWire

/// What goes on the air for what clients want to advertise.
///
/// Core Bluetooth counts what fields hold, without the two octets that head each: 28 octets for services, in the form
/// and order given, and the name if it fits whole; otherwise 10 octets for the beginning of the name. Services beyond
/// that go into an ``OverflowArea``, and so do those of apps in the background.
///
/// On the air, where each head counts, an advertisement has room for 28 octets beside its flags, and a scan response
/// for 31. As much as possible is in the advertisement; the rest, a part of a list of services if need be, is in the
/// scan response, and whoever scans sees both together. Everything within the budget of Core Bluetooth finds its place
/// so, but for one case: an overflow area of 21 octets beside much else. Then as many services as needed, the last ones
/// first, are in the area instead.
///
/// Core 6.0, Vol 3, Part C, 11; Core Specification Supplement 11, Part A, 1.
struct AdvertisementContent: Equatable, Sendable {
    /// How many octets services and a whole name may have together.
    static let budget = 28
    /// How many octets of a name there are beyond that.
    static let nameLimit = 10

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
        var visible: [BluetoothUUID] = [], overflow = hidden.filter { !request.services.contains($0) }, used = 0
        for service in request.services {
            if used + service.octets.count <= Self.budget {
                used += service.octets.count
                visible.append(service)
            } else {
                overflow.append(service)
            }
        }
        let name = request.localName.flatMap { Self.name($0, room: Self.budget - used) }
        while true {
            let split = AdvertisementSplit.best(
                services: visible,
                overflow: overflow,
                name: name,
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

    /// The name as a field: whole if there is room for it, else its beginning; `nil` if it is empty.
    private static func name(_ name: String, room: Int) -> AdvertisingData.Structure? {
        var builder = AdvertisingDataBuilder(capacity: 2 + (name.utf8.count <= room ? budget : nameLimit))
        guard !name.isEmpty, builder.append(localName: name) != .omitted else { return nil }
        return builder.data.structures.first
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
