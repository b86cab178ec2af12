extension HCI {
    /// Gives the controller the keys with which it resolves and makes private addresses of one peer.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.38.
    package struct LEAddDeviceToResolvingList: HCICommand {
        package static var opcode: Opcode { .leAddDeviceToResolvingList }
        package typealias Return = StatusReturn

        package var identity = DeviceAddress.none
        /// Resolves the addresses of the peer; zero if it has none.
        package var peerKey = Key128.zero
        /// Makes our own address towards the peer; zero for our identity address.
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

    /// Takes a peer off the resolving list.
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

    /// Empties the resolving list.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.40.
    package struct LEClearResolvingList: HCICommand {
        package static var opcode: Opcode { .leClearResolvingList }
        package typealias Return = StatusReturn

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Asks how many peers the resolving list can hold.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.41.
    package struct LEReadResolvingListSize: HCICommand {
        package static var opcode: Opcode { .leReadResolvingListSize }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Asks for the private address that a peer uses now.
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

    /// Asks for the private address that the controller uses now towards a peer.
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

    /// Has the controller resolve private addresses, or not.
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

    /// Says how long the controller uses one private address.
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

    /// Says whether a peer with a key may also use its identity address.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.77.
    package struct LESetPrivacyMode: HCICommand {
        package static var opcode: Opcode { .leSetPrivacyMode }
        package typealias Return = StatusReturn

        package var identity = DeviceAddress.none
        package var mode = PrivacyMode.network

        /// How strict the controller is with a peer of the resolving list.
        package enum PrivacyMode: UInt8, WireField, CustomStringConvertible {
            /// The peer is heard under private addresses alone.
            case network = 0
            /// The peer is heard under its identity address too.
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
    /// What the controller answers.
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
    /// What the controller answers.
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
    /// What the controller answers.
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
