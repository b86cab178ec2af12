extension Management {
    /// The number of elements in a list, at most ``Management/mostControllers``.
    fileprivate struct Count: WireField {
        let wire: UInt16
        init?(wire: UInt16) {
            guard wire <= mostControllers else { return nil }
            self.wire = wire
        }
    }

    /// The response to Read Controller Index List: the adapters that the kernel's own Bluetooth host can use.
    ///
    /// Adapters that a program uses exclusively (HCI_CHANNEL_USER), and adapters that are still being set up, are not
    /// included. BlueZ, doc/mgmt-protocol.rst.
    package struct IndexList: Packet {
        package var indexes: [AdapterIndex] = []

        package init() {}
        package init(_ indexes: [AdapterIndex]) { self.indexes = indexes }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            let count = try wire.count(of: indexes.count)
            for index in 0..<count {
                if index == indexes.count { indexes.append(.none) }
                try wire.field(&indexes[index], "Controller Index")
            }
        }
    }

    /// The response to Read Extended Controller Index List: all adapters with their buses, including the adapters that
    /// need configuration before use.
    package struct ExtendedIndexList: Packet {
        package var controllers: [ControllerEntry] = []

        package init() {}
        package init(_ controllers: [ControllerEntry]) { self.controllers = controllers }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            let count = try wire.count(of: controllers.count)
            for index in 0..<count {
                if index == controllers.count { controllers.append(ControllerEntry()) }
                try controllers[index].layout(&wire)
            }
        }
    }

    /// An entry in the list of adapters.
    package struct ControllerEntry: Packet, Hashable {
        package var index = AdapterIndex.none
        package var kind = ControllerKind.configured
        package var bus = Bus.virtual

        package init() {}
        package init(index: AdapterIndex, kind: ControllerKind = .configured, bus: Bus) {
            self.index = index
            self.kind = kind
            self.bus = bus
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&index, "Controller Index")
            try wire.field(&kind, "Controller Type")
            try wire.field(&bus, "Controller Bus")
        }
    }

    /// The response to Read Controller Information: the properties and settings of an adapter.
    package struct Information: Packet {
        package var address = DeviceAddress.none
        package var version = HCI.CoreVersion(wire: 0)
        package var manufacturer = CompanyIdentifier(wire: 0)
        /// The settings that the adapter supports.
        package var supported: Settings = []
        /// The current settings.
        package var current: Settings = []
        /// The class of device, 24 bits.
        package var deviceClass: UInt64 = 0
        /// The encoded name: UTF-8 up to the first zero octet.
        package private(set) var nameField = [UInt8](repeating: 0, count: 249)
        package private(set) var shortNameField = [UInt8](repeating: 0, count: 11)

        package init() {}

        /// The name of the adapter; `nil` if it has none.
        package var name: String? {
            get {
                let octets = nameField.prefix { $0 != 0 }
                return octets.isEmpty ? nil : String(decoding: octets, as: UTF8.self)
            }
            set {
                let octets = Array((newValue ?? "").utf8.prefix(248))
                nameField = octets + [UInt8](repeating: 0, count: 249 - octets.count)
            }
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.address(&address, "Address")
            try wire.field(&version, "Bluetooth Version")
            try wire.field(&manufacturer, "Manufacturer")
            try wire.field(&supported, "Supported Settings")
            try wire.field(&current, "Current Settings")
            try wire.narrow(&deviceClass, octets: 3, "Class Of Device")
            try wire.bytes(&nameField, count: 249, "Name")
            try wire.bytes(&shortNameField, count: 11, "Short Name")
        }
    }

    /// Powers an adapter on or off for the kernel's own host.
    ///
    /// Requires CAP_NET_ADMIN. The response contains the new ``Settings``.
    package struct SetPowered: Packet {
        package var isPowered = false

        package init() {}
        package init(_ isPowered: Bool) { self.isPowered = isPowered }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.flag(&isPowered, "Powered")
        }
    }
}

extension Wire where Self: ~Copyable & ~Escapable {
    /// Visits the number of elements that follow, and returns it: `count`, unless a decoder or a generator has changed
    /// it.
    @_lifetime(self: copy self)
    fileprivate mutating func count(of count: Int) throws(PacketError) -> Int {
        guard var field = Management.Count(wire: UInt16(clamping: count)) else {
            preconditionFailure("a list must not have \(count) controllers")
        }
        try self.field(&field, "Num Controllers")
        return Int(field.wire)
    }
}
