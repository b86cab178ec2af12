import BLEWire

// Advertisements with more in them than Core Bluetooth lets apps say.
extension AdvertisementContent {
    /// How much one command takes of the data of an extended advertisement.
    private static var partLength: Int { 251 }

    /// The data in parts that commands can hold.
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

    /// Whether all that is asked for finds room.
    static func fits(_ request: AdvertisingRequest) -> Bool {
        guard let broadcast = request.broadcast else { return true }
        return builders(request, broadcast) != nil
    }

    /// What goes out for such a request; the parts that fit, if not all do because other clients advertise as well.
    init(_ request: AdvertisingRequest, _ broadcast: BroadcastRequest) {
        var request = request
        while Self.builders(request, broadcast) == nil, !request.services.isEmpty { request.services.removeLast() }
        if Self.builders(request, broadcast) == nil { request.localName = nil }
        let builders = Self.builders(request, broadcast)
        self.init(
            advertisement: builders?.advertisement.data.encoded ?? [],
            scanResponse: builders?.response.data.encoded ?? [],
            parameters: AdvertisingParameters(broadcast)
        )
    }

    /// Flags, services, service data and maker's data in the advertisement; the strength and the name there or in the
    /// scan response.
    private static func builders(
        _ request: AdvertisingRequest,
        _ broadcast: BroadcastRequest
    ) -> (advertisement: AdvertisingDataBuilder, response: AdvertisingDataBuilder)? {
        let capacity =
            broadcast.isExtended ? AdvertisingData.maximumExtendedLength : AdvertisingData.maximumLegacyLength
        var advertisement = AdvertisingDataBuilder(capacity: capacity)
        var response = AdvertisingDataBuilder(capacity: AdvertisingData.maximumLegacyLength)
        guard advertisement.append(flags: [.generalDiscoverable, .classicNotSupported]),
            advertisement.append(services: request.services).isEmpty
        else { return nil }
        for data in broadcast.serviceData {
            guard advertisement.append(serviceData: data) else { return nil }
        }
        if let data = broadcast.manufacturerData {
            guard advertisement.append(manufacturerData: data) else { return nil }
        }
        if let power = broadcast.statedPower, !advertisement.append(statedPower: power) {
            guard !broadcast.isExtended, response.append(statedPower: power) else { return nil }
        }
        guard let name = request.localName, !name.isEmpty else { return (advertisement, response) }
        if name.utf8.count + 2 <= advertisement.room {
            guard advertisement.append(localName: name) == .complete else { return nil }
        } else {
            guard !broadcast.isExtended, response.append(localName: name) == .complete else { return nil }
        }
        return (advertisement, response)
    }
}

extension ControllerDescription {
    /// How the controller is to advertise this in a set.
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
