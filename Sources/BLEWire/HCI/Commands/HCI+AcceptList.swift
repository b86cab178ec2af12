extension HCI {
    /// Reads the capacity of the filter accept list.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.14.
    package struct LEReadFilterAcceptListSize: HCICommand {
        package static var opcode: Opcode { .leReadFilterAcceptListSize }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Clears the filter accept list.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.15.
    package struct LEClearFilterAcceptList: HCICommand {
        package static var opcode: Opcode { .leClearFilterAcceptList }
        package typealias Return = StatusReturn

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Adds a device to the filter accept list.
    ///
    /// The kind ``DeviceAddress/Kind/anonymous`` stands for all devices that send no address.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.16.
    package struct LEAddDeviceToFilterAcceptList: HCICommand {
        package static var opcode: Opcode { .leAddDeviceToFilterAcceptList }
        package typealias Return = StatusReturn

        package var address = DeviceAddress.none

        package init() {}
        package init(address: DeviceAddress) {
            self.address = address
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.typedAddress(&address, kind: "Address Type", "Address")
        }
    }

    /// Removes a device from the filter accept list.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.17.
    package struct LERemoveDeviceFromFilterAcceptList: HCICommand {
        package static var opcode: Opcode { .leRemoveDeviceFromFilterAcceptList }
        package typealias Return = StatusReturn

        package var address = DeviceAddress.none

        package init() {}
        package init(address: DeviceAddress) {
            self.address = address
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.typedAddress(&address, kind: "Address Type", "Address")
        }
    }
}

extension HCI.LEReadFilterAcceptListSize {
    /// The return parameters: the capacity of the filter accept list, in entries.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var size: UInt8 = 0

        package init() {}
        package init(status: HCI.Status, size: UInt8) {
            self.status = status
            self.size = size
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.integer(&size, "Filter Accept List Size")
        }
    }
}
