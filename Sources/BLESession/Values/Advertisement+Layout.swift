package import BLEHost
package import BLEWire

extension AdvertisementPacket: Packet {
    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.flag(&isLegacy, "Legacy")
        try wire.flag(&isScannable, "Scannable")
        try wire.flag(&isDirected, "Directed")
        try wire.flag(&isTruncated, "Truncated")
        try wire.field(&primaryPHY, "Primary PHY")
        try wire.field(&secondaryPHY, "Secondary PHY")
        try wire.field(&set, "Advertising SID")
        try wire.field(&transmitPower, "TX Power")
    }
}

extension AdvertisementReport: Packet {
    package init() {
        self.init(
            peer: .blank,
            address: .none,
            isConnectable: false,
            rssi: .unavailable,
            octets: .init(advertisement: [])
        )
    }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var peer = peer, address = address, isConnectable = isConnectable, rssi = rssi, name = name
        var all = octets.all, advertisementLength = octets.advertisementLength, packet = packet
        try wire.field(&peer, "Peer")
        try address.layout(&wire)
        try wire.flag(&isConnectable, "Connectable")
        try wire.field(&rssi, "RSSI")
        try wire.sized(&all, "Data")
        try wire.text(&name, "Name")
        try wire.count(&advertisementLength, "Advertisement Length")
        guard let octets = AdvertisementOctets(all: all, advertisementLength: advertisementLength) else {
            throw .reserved(field: "Advertisement Length")
        }
        try packet.layout(&wire)
        self = Self(
            peer: peer,
            address: address,
            isConnectable: isConnectable,
            rssi: rssi,
            octets: octets,
            name: name,
            packet: packet
        )
    }
}

extension AdvertisingData.ServiceData: Packet {
    package init() { self.init(service: BluetoothUUID(), data: []) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var service = service, data = data
        try service.layout(&wire)
        try wire.sized(&data, "Service Data")
        self = Self(service: service, data: data)
    }
}

extension AdvertisingData.Structure: Packet {
    package init() { self.init(.flags, []) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var type = type, data = data
        try wire.field(&type, "Type")
        try wire.sized(&data, "Data")
        guard data.count <= Self.maximumDataLength else { throw .reserved(field: "Data") }
        self = Self(type, data)
    }
}

extension BroadcastRequest: Packet {
    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.sized(&manufacturerData, "Manufacturer Data")
        try wire.sequence(&serviceData, "Service Data")
        try wire.flag(&isConnectable, "Connectable")
        try wire.flag(&isExtended, "Extended")
        try wire.duration(&interval, "Interval")
        var power = transmitPower.map { TransmitPower(dBm: $0) }
        try wire.optional(&power, blank: .unavailable, "TX Power")
        transmitPower = power?.dBm
        try wire.field(&primaryPHY, "Primary PHY")
        try wire.field(&secondaryPHY, "Secondary PHY")
    }
}

/// The properties of a ``BroadcastRequest`` that later versions of the protocol have added.
///
/// They are at the end of messages that contain such a request.
package struct BroadcastAddition: Packet {
    /// The properties that were added to the protocol after `flags`, `advertisement` and `scanResponse`.
    private struct Contents: Packet {
        var statedPower: TransmitPower?
        var structures: [AdvertisingData.Structure] = []

        mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.optional(&statedPower, blank: .unavailable, "Stated Power")
            try wire.sequence(&structures, "Structure")
        }
    }

    private var flags: [UInt8]?
    private var advertisement: [UInt8]?
    private var scanResponse: [UInt8] = []
    private var contents: Contents?

    package init() {}

    /// Takes the added properties from a request; returns `nil` if the request has none, or all of them have their
    /// defaults and need not be sent.
    init?(_ request: AdvertisingRequest?) {
        guard let broadcast = request?.broadcast else { return nil }
        if broadcast.statedPower != nil || !broadcast.structures.isEmpty {
            contents = Contents(
                statedPower: broadcast.statedPower.map { TransmitPower(dBm: $0) },
                structures: broadcast.structures
            )
        }
        let isUsual = broadcast.flags == BroadcastRequest.usualFlags && broadcast.octets == nil
        guard !isUsual || contents != nil else { return nil }
        flags = broadcast.flags.map { [$0.rawValue] }
        advertisement = broadcast.octets.map { Array($0.advertisement) }
        scanResponse = broadcast.octets.map { Array($0.scanResponse) } ?? []
    }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.sized(&flags, "Flags")
        try wire.sized(&advertisement, "Advertisement")
        try wire.sized(&scanResponse, "Scan Response")
        try wire.tail(&contents)
    }

    /// Sets these properties in `request`, if it has a ``BroadcastRequest``.
    func add(to request: inout AdvertisingRequest?) {
        request?.broadcast?.flags = flags.flatMap(\.first).map(ADFlags.init)
        request?.broadcast?.octets = advertisement.map {
            AdvertisementOctets(advertisement: $0, scanResponse: scanResponse)
        }
        request?.broadcast?.statedPower = contents?.statedPower?.dBm
        request?.broadcast?.structures = contents?.structures ?? []
    }
}

extension AdvertisingRequest: Packet {
    package init() { self.init(localName: nil) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.text(&localName, "Local Name")
        try wire.sequence(&services, "Service")
        try wire.optional(&broadcast, "Broadcast")
    }
}
