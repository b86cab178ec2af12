import BLEWire

// Advertisements with options that Core Bluetooth does not offer to apps.
extension AdvertisementContent {
    /// The maximum length of the extended advertising data in one command, in octets.
    private static var partLength: Int { 251 }

    /// The advertising data, in parts that fit into one command each.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.54.
    var parts: [(octets: [UInt8], operation: HCI.DataOperation)] {
        guard advertisement.count > Self.partLength else { return [(advertisement, .complete)] }
        return stride(from: 0, to: advertisement.count, by: Self.partLength).map { start in
            let end = min(start + Self.partLength, advertisement.count)
            let operation: HCI.DataOperation =
                start == 0 ? .first : end == advertisement.count ? .last : .intermediate
            return (Array(advertisement[start..<end]), operation)
        }
    }

    /// Returns whether a request can be advertised completely.
    static func fits(_ request: AdvertisingRequest) -> Bool { request.error == nil }

    /// Creates the content for a request with options beyond Core Bluetooth.
    ///
    /// If `request` was merged from the requests of several clients and does not fit, services are left out, the last
    /// one first, and then the name.
    init(_ request: AdvertisingRequest, _ broadcast: BroadcastRequest) {
        var request = request
        while true {
            if let content = try? Self(packing: request, broadcast) {
                self = content
                return
            }
            if request.services.popLast() != nil { continue }
            guard request.localName != nil else { break }
            request.localName = nil
        }
        self.init(advertisement: [], scanResponse: [], parameters: AdvertisingParameters(broadcast))
    }

    /// Creates the content for a request with options beyond Core Bluetooth, without leaving anything out.
    ///
    /// - Throws: An error that names the first field for which there is no room.
    init(packing request: AdvertisingRequest, _ broadcast: BroadcastRequest) throws(AdvertisingRequestError) {
        let parameters = AdvertisingParameters(broadcast)
        guard let octets = broadcast.octets else {
            let packing = try AdvertisementPacking(request, broadcast)
            self.init(
                advertisement: packing.advertisement,
                scanResponse: packing.scanResponse,
                parameters: parameters
            )
            return
        }
        guard request.localName == nil else { throw Self.excluded(.localName) }
        guard request.services.isEmpty else { throw Self.excluded(.services) }
        guard broadcast.serviceData.isEmpty else { throw Self.excluded(.serviceData) }
        guard broadcast.manufacturerData == nil else { throw Self.excluded(.manufacturerData) }
        guard broadcast.statedPower == nil else { throw Self.excluded(.statedPower) }
        guard broadcast.structures.isEmpty else { throw Self.excluded(.structures) }
        try Self.check(octets.scanResponse.count, .scanResponse, parameters.longestScanResponse, parameters)
        try Self.check(octets.advertisement.count, .advertisement, parameters.longestData, parameters)
        self.init(
            advertisement: Array(octets.advertisement),
            scanResponse: Array(octets.scanResponse),
            parameters: parameters
        )
    }

    private static func excluded(_ field: AdvertisingRequestError.Field) -> AdvertisingRequestError {
        AdvertisingRequestError(field, "the contents of both packets are already given; leave it out")
    }

    private static func check(
        _ count: Int,
        _ field: AdvertisingRequestError.Field,
        _ limit: Int,
        _ parameters: AdvertisingParameters
    ) throws(AdvertisingRequestError) {
        guard count > limit else { return }
        let kind =
            parameters.isLegacy ? "" : parameters.isConnectable ? "extended connectable " : "extended "
        let packet = field == .advertisement ? "advertisement" : "scan response"
        guard limit == 0 else {
            throw AdvertisingRequestError(field, "it has \(count) octets, but \(kind)\(packet)s hold at most \(limit)")
        }
        throw AdvertisingRequestError(
            field,
            parameters.isConnectable
                ? "a connectable extended advertisement has no scan response"
                : "an extended advertisement has either its own data or a scan response, not both"
        )
    }
}

extension ControllerDescription {
    /// Returns the command that applies `parameters` to the advertising set `set`; a legacy command ignores `set`.
    func advertisingParameters(_ parameters: AdvertisingParameters, in set: AdvertisingHandle) -> HCICommandPacket {
        let interval = AdvertisingInterval(parameters.interval)
        let ownAddress = ownAddress(parameters.ownAddress) ?? ownAddress
        guard usesExtendedCommands else {
            return .leSetAdvertisingParameters(
                .init(
                    minimum: interval,
                    maximum: interval,
                    type: parameters.type,
                    ownAddress: ownAddress,
                    peer: parameters.target ?? .none
                )
            )
        }
        return .leSetExtendedAdvertisingParameters(
            .init(
                set: set,
                properties: parameters.properties,
                minimum: ExtendedAdvertisingInterval(interval),
                maximum: ExtendedAdvertisingInterval(interval),
                ownAddress: ownAddress,
                peer: parameters.target ?? .none,
                power: parameters.transmitPower.map(TransmitPower.init(dBm:)) ?? .unavailable,
                primaryPHY: parameters.primaryPHY,
                secondaryPHY: parameters.secondaryPHY,
                sid: AdvertisingSID(wire: set.wire & 0x0F)
            )
        )
    }
}
