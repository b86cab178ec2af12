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

    /// Visits the fields of all versions of the protocol; ``DescriptorAddition`` has the others.
    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&id, "Attribute")
        try uuid.layout(&wire)
        var constant = isUsual ? value ?? [] : []
        try wire.sized(&constant, "Value")
        (permissions, value) = (.readable, constant)
    }

    /// True if the value is constant and each peer may read it, as with all descriptors of earlier versions.
    fileprivate var isUsual: Bool { permissions == .readable && value != nil }
}

/// The permissions and values of a service's descriptors that later versions of the protocol have added.
///
/// They are at the end of a request that adds a service. A daemon of an earlier version ignores them, and publishes
/// these descriptors with empty values.
struct DescriptorAddition: Packet {
    private struct Element: Packet {
        var id = LocalAttributeID.blank
        var permissions: UInt16 = 0
        var value: [UInt8]?

        mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&id, "Attribute")
            try wire.integer(&permissions, "Permissions")
            try wire.sized(&value, "Value")
        }
    }

    private var elements: [Element] = []

    init() {}

    /// Takes what an earlier version lacks from a service; returns `nil` if it lacks nothing.
    init?(_ service: ServiceDefinition) {
        elements = service.characteristics.flatMap(\.descriptors).filter { !$0.isUsual }.map { descriptor in
            Element(id: descriptor.id, permissions: descriptor.permissions.rawValue, value: descriptor.value)
        }
        if elements.isEmpty { return nil }
    }

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.sequence(&elements, "Descriptor") }

    /// Adds this to the descriptors of a service.
    func add(to service: inout ServiceDefinition) {
        for characteristic in service.characteristics.indices {
            for index in service.characteristics[characteristic].descriptors.indices {
                let id = service.characteristics[characteristic].descriptors[index].id
                guard let element = elements.last(where: { $0.id == id }) else { continue }
                let permissions = AttributePermissions(rawValue: element.permissions)
                service.characteristics[characteristic].descriptors[index].permissions = permissions
                service.characteristics[characteristic].descriptors[index].value = element.value
            }
        }
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
