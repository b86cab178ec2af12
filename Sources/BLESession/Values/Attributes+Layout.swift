package import BLEHost
package import BLEWire

extension DiscoveredService: Packet {
    package init() { self.init(uuid: BluetoothUUID(), range: .all, isPrimary: false) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try uuid.layout(&wire)
        try range.layout(&wire)
        try wire.flag(&isPrimary, "Primary")
    }
}

extension DiscoveredCharacteristic: Packet {
    package init() {
        self.init(uuid: BluetoothUUID(), properties: 0, declaration: .none, value: .none, end: .none)
    }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try uuid.layout(&wire)
        try wire.integer(&properties, "Properties")
        try wire.field(&declaration, "Declaration")
        try wire.field(&value, "Value")
        try wire.field(&end, "End")
    }
}

extension DiscoveredDescriptor: Packet {
    package init() { self.init(uuid: BluetoothUUID(), handle: .none) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try uuid.layout(&wire)
        try wire.field(&handle, "Handle")
    }
}

extension DescriptorDefinition: Packet {
    package init() { self.init(id: .blank, uuid: BluetoothUUID(), value: []) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&id, "Attribute")
        try uuid.layout(&wire)
        try wire.sized(&value, "Value")
    }
}

extension CharacteristicDefinition: Packet {
    package init() { self.init(id: .blank, uuid: BluetoothUUID(), properties: [], permissions: []) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&id, "Attribute")
        try uuid.layout(&wire)
        var carrier = properties.union(.carrier(of: permissions))
        var octet = UInt8(truncatingIfNeeded: permissions.rawValue)
        try wire.field(&carrier, "Properties")
        try wire.integer(&octet, "Permissions")
        properties = carrier.subtracting(.carriers)
        permissions = carrier.carriedPermissions.union(AttributePermissions(rawValue: UInt16(octet)))
        try wire.sized(&value, "Value")
        try wire.sequence(&descriptors, "Descriptor")
    }
}

extension CharacteristicProperties {
    /// The bits of the field Properties that contain permissions, because the field Permissions has only one octet.
    ///
    /// They contain the bits 8 and 9 of the permissions, which require LE Secure Connections. An earlier version of the
    /// daemon ignores them and requires an authenticated key.
    fileprivate static let carriers = Self(rawValue: 0xC000)

    fileprivate static func carrier(of permissions: AttributePermissions) -> Self {
        Self(rawValue: permissions.rawValue << 6).intersection(.carriers)
    }

    fileprivate var carriedPermissions: AttributePermissions {
        AttributePermissions(rawValue: intersection(.carriers).rawValue >> 6)
    }
}

extension ServiceDefinition: Packet {
    package init() { self.init(id: .blank, uuid: BluetoothUUID()) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&id, "Attribute")
        try uuid.layout(&wire)
        try wire.flag(&isPrimary, "Primary")
        var included = includes.map(AttributeReference.init)
        try wire.sequence(&included, "Included Service")
        includes = included.map(\.id)
        try wire.sequence(&characteristics, "Characteristic")
    }
}

/// A packet that contains the identifier of a local attribute, for use as an element of a list.
private struct AttributeReference: Packet {
    var id: LocalAttributeID
    init(_ id: LocalAttributeID) { self.id = id }
    init() { id = .blank }
    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.field(&id, "Attribute") }
}

/// A packet that contains the identifier of a peer, for use as an element of a list.
struct PeerReference: Packet {
    var peer: PeerIdentifier
    init(_ peer: PeerIdentifier) { self.peer = peer }
    init() { peer = .blank }
    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.field(&peer, "Peer") }
}

extension RemoteCentral: Packet {
    package init() { self.init(peer: .blank, mtu: 0) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&peer, "Central")
        try wire.count(&mtu, "MTU")
    }
}

extension ConnectedCentral: Packet {
    package init() { self.init(RemoteCentral(), address: .none) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try central.layout(&wire)
        try address.layout(&wire)
    }
}

extension WritePart: Packet {
    package init() { self.init(attribute: .blank, value: []) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&attribute, "Attribute")
        try wire.count(&offset, "Offset")
        try wire.sized(&value, "Value")
    }
}
