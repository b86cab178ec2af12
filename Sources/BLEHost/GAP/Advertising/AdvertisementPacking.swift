import BLEWire

/// The division of fields between the advertisement and the scan response.
///
/// Flags are always in the advertisement. Each other field, in order, is put into the advertisement if all later fields
/// can then still be placed; otherwise, it is put into the scan response.
struct AdvertisementPacking {
    private typealias Item = (field: AdvertisingRequestError.Field, structure: AdvertisingData.Structure)

    private(set) var advertisement: [UInt8] = []
    private(set) var scanResponse: [UInt8] = []

    /// Packs the fields that a client has requested.
    ///
    /// - Throws: An error that names the first field that does not fit together with the fields before it.
    init(_ request: AdvertisingRequest, _ broadcast: BroadcastRequest) throws(AdvertisingRequestError) {
        let parameters = AdvertisingParameters(broadcast)
        let items = try Self.items(of: request, broadcast)
        let flags = broadcast.flags.map { AdvertisingData.Structure(.flags, [$0.rawValue]) }
        let room = parameters.longestData - (flags?.encodedLength ?? 0)
        let sizes = items.map(\.structure.encodedLength)
        let places: [Bool]
        if parameters.hasScanResponse {
            places = try Self.arrange(items, sizes, in: room, and: parameters.longestScanResponse)
        } else {
            var used = 0
            for (item, size) in zip(items, sizes) {
                used += size
                guard used <= room else { throw Self.noRoom(for: item, in: "the advertisement") }
            }
            places = items.map { _ in true }
        }
        let first = zip(items, places).filter(\.1).map(\.0.structure)
        advertisement = AdvertisingData((flags.map { [$0] } ?? []) + first).encoded
        scanResponse = AdvertisingData(zip(items, places).filter { !$0.1 }.map(\.0.structure)).encoded
    }

    private static func items(
        of request: AdvertisingRequest,
        _ broadcast: BroadcastRequest
    ) throws(AdvertisingRequestError) -> [Item] {
        var items: [Item] = []
        func structure(
            _ field: AdvertisingRequestError.Field,
            _ append: (inout AdvertisingDataBuilder) -> Bool
        ) throws(AdvertisingRequestError) {
            var builder = AdvertisingDataBuilder(capacity: AdvertisingData.maximumExtendedLength)
            guard append(&builder) else {
                let limit = AdvertisingData.Structure.maximumDataLength
                throw AdvertisingRequestError(
                    field,
                    "an AD structure can have at most \(limit) octets of data, including UUIDs"
                )
            }
            items += builder.data.structures.map { (field, $0) }
        }
        try structure(.services) { $0.append(services: request.services).isEmpty }
        for data in broadcast.serviceData { try structure(.serviceData) { $0.append(serviceData: data) } }
        if let data = broadcast.manufacturerData {
            guard data.count >= 2 else {
                throw AdvertisingRequestError(
                    .manufacturerData,
                    "it must begin with the two octets of a company identifier"
                )
            }
            try structure(.manufacturerData) { $0.append(manufacturerData: data) }
        }
        if let power = broadcast.statedPower { try structure(.statedPower) { $0.append(statedPower: power) } }
        items += broadcast.structures.map { (.structures, $0) }
        if let name = request.localName, !name.isEmpty {
            try structure(.localName) { $0.append(localName: name) == .complete }
        }
        return items
    }

    /// Returns, for each item, whether it goes into the advertisement rather than the scan response.
    ///
    /// `sizes` are the sizes of the items, and `first` and `second` the room in the two packets, in octets.
    private static func arrange(
        _ items: [Item],
        _ sizes: [Int],
        in first: Int,
        and second: Int
    ) throws(AdvertisingRequestError) -> [Bool] {
        for count in sizes.indices where place(sizes[...count], in: first, and: second) == nil {
            throw noRoom(for: items[count], in: "the advertisement and the scan response")
        }
        return place(sizes[...], in: first, and: second) ?? []
    }

    /// Returns, for each of these sizes, whether it goes into the first of two packets; `nil` if they do not all fit.
    ///
    /// `first` and `second` are the room in the packets. All sizes are in octets.
    private static func place(_ sizes: ArraySlice<Int>, in first: Int, and second: Int) -> [Bool]? {
        // Each size is at least 2, so this also limits their number.
        guard first >= 0, sizes.reduce(0, +) <= first + second else { return nil }
        // `fits[index][used]` is true if the sizes from `index` on fit when `used` octets of the first packet are
        // taken.
        let total = sizes.reduce(0, +)
        var fits = [[Bool](repeating: true, count: first + 1)], rest = total
        for size in sizes.reversed() {
            rest -= size
            let next = fits[0]
            let row = (0...first).map { used in
                let isInFirst = used + size <= first && next[used + size]
                return isInFirst || rest - used + size <= second && next[used]
            }
            fits.insert(row, at: 0)
        }
        guard fits[0][0] else { return nil }
        var places: [Bool] = [], used = 0
        for (index, size) in sizes.enumerated() {
            let isInFirst = used + size <= first && fits[index + 1][used + size]
            if isInFirst { used += size }
            places.append(isInFirst)
        }
        return places
    }

    private static func noRoom(for item: Item, in packets: String) -> AdvertisingRequestError {
        let size = item.structure.encodedLength
        return AdvertisingRequestError(item.field, "there is no room for its \(size) octets in \(packets)")
    }
}
