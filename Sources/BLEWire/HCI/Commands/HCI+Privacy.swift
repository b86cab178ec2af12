extension HCI {
    /// Adds a peer to the resolving list, with the IRKs for the peer's and the local private addresses.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.38.
    package struct LEAddDeviceToResolvingList: HCICommand {
        package static var opcode: Opcode { .leAddDeviceToResolvingList }
        package typealias Return = StatusReturn

        package var identity = DeviceAddress.none
        /// The peer's IRK; zero if the peer has none.
        package var peerKey = Key128.zero
        /// The local IRK; zero to use the identity address with this peer.
        package var localKey = Key128.zero

        package init() {}
        package init(identity: DeviceAddress, peerKey: Key128, localKey: Key128) {
            self.identity = identity
            self.peerKey = peerKey
            self.localKey = localKey
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.typedAddress(&identity, kind: "Peer Identity Address Type", "Peer Identity Address")
            try wire.field(&peerKey, "Peer IRK")
            try wire.field(&localKey, "Local IRK")
        }
    }

    /// Removes a peer from the resolving list.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.39.
    package struct LERemoveDeviceFromResolvingList: HCICommand {
        package static var opcode: Opcode { .leRemoveDeviceFromResolvingList }
        package typealias Return = StatusReturn

        package var identity = DeviceAddress.none

        package init() {}
        package init(identity: DeviceAddress) {
            self.identity = identity
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.typedAddress(&identity, kind: "Peer Identity Address Type", "Peer Identity Address")
        }
    }

    /// Clears the resolving list.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.40.
    package struct LEClearResolvingList: HCICommand {
        package static var opcode: Opcode { .leClearResolvingList }
        package typealias Return = StatusReturn

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the capacity of the resolving list.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.41.
    package struct LEReadResolvingListSize: HCICommand {
        package static var opcode: Opcode { .leReadResolvingListSize }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the private address that a peer currently uses.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.42.
    package struct LEReadPeerResolvableAddress: HCICommand {
        package static var opcode: Opcode { .leReadPeerResolvableAddress }

        package var identity = DeviceAddress.none

        package init() {}
        package init(identity: DeviceAddress) {
            self.identity = identity
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.typedAddress(&identity, kind: "Peer Identity Address Type", "Peer Identity Address")
        }
    }

    /// Reads the private address that the controller currently uses with a peer.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.43.
    package struct LEReadLocalResolvableAddress: HCICommand {
        package static var opcode: Opcode { .leReadLocalResolvableAddress }

        package var identity = DeviceAddress.none

        package init() {}
        package init(identity: DeviceAddress) {
            self.identity = identity
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.typedAddress(&identity, kind: "Peer Identity Address Type", "Peer Identity Address")
        }
    }

    /// Enables or disables the resolution of private addresses in the controller.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.44.
    package struct LESetAddressResolutionEnable: HCICommand {
        package static var opcode: Opcode { .leSetAddressResolutionEnable }
        package typealias Return = StatusReturn

        package var enable = false

        package init() {}
        package init(enable: Bool) {
            self.enable = enable
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.flag(&enable, "Address Resolution Enable")
        }
    }

    /// Sets the time after which the controller replaces its private addresses.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.45.
    package struct LESetResolvablePrivateAddressTimeout: HCICommand {
        package static var opcode: Opcode { .leSetResolvablePrivateAddressTimeout }
        package typealias Return = StatusReturn

        package var timeout = PrivateAddressTimeout.standard

        package init() {}
        package init(timeout: PrivateAddressTimeout) {
            self.timeout = timeout
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&timeout, "RPA Timeout")
        }
    }

    /// Sets the privacy mode of a peer, which decides whether the controller accepts the identity address of a peer
    /// with an IRK.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.77.
    package struct LESetPrivacyMode: HCICommand {
        package static var opcode: Opcode { .leSetPrivacyMode }
        package typealias Return = StatusReturn

        package var identity = DeviceAddress.none
        package var mode = PrivacyMode.network

        /// The treatment of a peer's identity address.
        package enum PrivacyMode: UInt8, WireField, CustomStringConvertible {
            /// Only private addresses of the peer are accepted.
            case network = 0
            /// The peer's identity address is accepted, too.
            case device = 1

            package var description: String {
                switch self {
                case .network: "network"
                case .device: "device"
                }
            }
        }

        package init() {}
        package init(identity: DeviceAddress, mode: PrivacyMode) {
            self.identity = identity
            self.mode = mode
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.typedAddress(&identity, kind: "Peer Identity Address Type", "Peer Identity Address")
            try wire.field(&mode, "Privacy Mode")
        }
    }
}

extension HCI.LEReadResolvingListSize {
    /// The return parameters: the capacity of the resolving list, in entries.
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
            try wire.integer(&size, "Resolving List Size")
        }
    }
}

extension HCI.LEReadPeerResolvableAddress {
    /// The return parameters: the private address that the peer currently uses.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var address = DeviceAddress(0, .random)

        package init() {}
        package init(status: HCI.Status, address: DeviceAddress) {
            self.status = status
            self.address = DeviceAddress(address.value, .random)
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.address(&address, "Peer Resolvable Address")
        }
    }
}

extension HCI.LEReadLocalResolvableAddress {
    /// The return parameters: the private address that the controller currently uses with the peer.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var address = DeviceAddress(0, .random)

        package init() {}
        package init(status: HCI.Status, address: DeviceAddress) {
            self.status = status
            self.address = DeviceAddress(address.value, .random)
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.address(&address, "Local Resolvable Address")
        }
    }
}
