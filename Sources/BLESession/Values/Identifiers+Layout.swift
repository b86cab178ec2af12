package import BLEHost
package import BLEWire

extension PeerIdentifier: WireField {
    package init(wire: UInt128) { self.init(rawValue: wire) }
    package var wire: UInt128 { rawValue }

    static var blank: Self { Self(rawValue: 0) }
}

extension LocalAttributeID: WireField {
    package init(wire: UInt32) { self.init(rawValue: wire) }
    package var wire: UInt32 { rawValue }

    static var blank: Self { Self(rawValue: 0) }
}

extension ServerTransaction: WireField {
    package init(wire: UInt64) { self.init(rawValue: wire) }
    package var wire: UInt64 { rawValue }

    static var blank: Self { Self(rawValue: 0) }
}

extension ChannelID: WireField {
    package init(wire: UInt64) { self.init(rawValue: wire) }
    package var wire: UInt64 { rawValue }

    static var blank: Self { Self(rawValue: 0) }
}

/// A number at the end of a message.
///
/// A number that is 0 is left out.
struct TrailingNumber: Packet {
    private(set) var number: UInt32

    init?(_ number: UInt32) {
        guard number != 0 else { return nil }
        self.number = number
    }

    init() { number = 0 }

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.integer(&number, "Number") }
}

extension Subscription: WireField {
    package init?(wire: UInt16) { self.init(rawValue: wire) }
    package var wire: UInt16 { rawValue }
}

extension CharacteristicProperties: WireField {
    package init(wire: UInt16) { self.init(rawValue: wire) }
    package var wire: UInt16 { rawValue }
}

extension ConnectionAlerts: WireField {
    package init(wire: UInt8) { self.init(rawValue: wire) }
    package var wire: UInt8 { rawValue }
}

extension HostFeatures: WireField {
    package init(wire: UInt8) { self.init(rawValue: wire) }
    package var wire: UInt8 { rawValue }
}

extension LinkSecurity: WireField {
    package init?(wire: UInt8) { self.init(rawValue: Int(wire)) }
    package var wire: UInt8 { UInt8(clamping: rawValue) }
}

/// The length of a UUID in the session protocol, in octets.
private struct UUIDLength: WireField {
    let wire: UInt8
    init(of uuid: BluetoothUUID) { wire = UInt8(clamping: uuid.octets.count) }
    init?(wire: UInt8) {
        guard [2, 4, 16].contains(wire) else { return nil }
        self.wire = wire
    }
}

extension BluetoothUUID: Packet {
    package init() { self = .short(0) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var length = UUIDLength(of: self), octets = octets
        try wire.field(&length, "UUID Length")
        try wire.bytes(&octets, count: Int(length.wire), "UUID")
        guard let uuid = BluetoothUUID(octets: octets[...]) else { throw .reserved(field: "UUID") }
        self = uuid
    }
}

extension AttributeHandleRange: Packet {
    package init() { self = .all }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var start = start, end = end
        try wire.field(&start, "Starting Handle")
        try wire.field(&end, "Ending Handle")
        guard let range = Self(start, end) else { throw .reserved(field: "Attribute Handle Range") }
        self = range
    }
}

extension DeviceAddress: Packet {
    package init() { self = .none }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.typedAddress(&self, kind: "Address Type", "Address")
    }
}
