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

/// The properties of a ``BroadcastRequest`` that a later version of the protocol has added.
///
/// They are at the end of messages that contain such a request.
package struct BroadcastAddition: Packet {
    private var flags: [UInt8]?
    private var advertisement: [UInt8]?
    private var scanResponse: [UInt8] = []

    package init() {}

    /// Takes the added properties of a request; returns `nil` if they have their defaults, so that nothing needs to be
    /// sent.
    init?(_ request: AdvertisingRequest?) {
        guard let broadcast = request?.broadcast,
            broadcast.flags != BroadcastRequest.usualFlags || broadcast.octets != nil
        else { return nil }
        flags = broadcast.flags.map { [$0.rawValue] }
        advertisement = broadcast.octets.map { Array($0.advertisement) }
        scanResponse = broadcast.octets.map { Array($0.scanResponse) } ?? []
    }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.sized(&flags, "Flags")
        try wire.sized(&advertisement, "Advertisement")
        try wire.sized(&scanResponse, "Scan Response")
    }

    /// Sets these properties in `request`.
    func add(to request: inout AdvertisingRequest?) {
        request?.broadcast?.flags = flags.flatMap(\.first).map(ADFlags.init)
        request?.broadcast?.octets = advertisement.map {
            AdvertisementOctets(advertisement: $0, scanResponse: scanResponse)
        }
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
