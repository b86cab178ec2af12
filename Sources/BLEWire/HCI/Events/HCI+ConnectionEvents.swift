extension HCI {
    /// Reports that a connection has been created or that its creation has failed.
    ///
    /// After a failure, only the status and, in some cases, the address are valid.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.1.
    package struct LEConnectionComplete: HCILEEvent {
        package static var subevent: LESubevent { .connectionComplete }

        package var status = Status.success
        package var handle = ConnectionHandle.lowest
        /// The role of the local device on the connection.
        package var role = Role.central
        package var peer = DeviceAddress.none
        package var interval = Reported<ConnectionInterval>(wire: 0)
        package var latency = Reported<PeripheralLatency>(wire: 0)
        package var timeout = Reported<SupervisionTimeout>(wire: 0)
        package var clockAccuracy = ClockAccuracy(wire: 0)

        package init() {}
        package init(
            status: Status,
            handle: ConnectionHandle,
            role: Role,
            peer: DeviceAddress,
            interval: Reported<ConnectionInterval>,
            latency: Reported<PeripheralLatency>,
            timeout: Reported<SupervisionTimeout>,
            clockAccuracy: ClockAccuracy = ClockAccuracy(wire: 0)
        ) {
            self.status = status
            self.handle = handle
            self.role = role
            self.peer = peer
            self.interval = interval
            self.latency = latency
            self.timeout = timeout
            self.clockAccuracy = clockAccuracy
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&role, "Role")
            try wire.typedAddress(&peer, kind: "Peer Address Type", "Peer Address")
            try wire.field(&interval, "Connection Interval")
            try wire.field(&latency, "Peripheral Latency")
            try wire.field(&timeout, "Supervision Timeout")
            try wire.field(&clockAccuracy, "Central Clock Accuracy")
        }
    }

    /// Reports that a connection has been created or that its creation has failed, with both ends' private addresses.
    ///
    /// After a failure, only the status and, in some cases, the address are valid.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.10.
    package struct LEEnhancedConnectionComplete: HCILEEvent {
        package static var subevent: LESubevent { .enhancedConnectionComplete }

        package var status = Status.success
        package var handle = ConnectionHandle.lowest
        /// The role of the local device on the connection.
        package var role = Role.central
        package var peer = DeviceAddress.none
        /// The private address that the controller generated for the local device; zero if it did not generate one.
        package var localPrivateAddress = DeviceAddress(0, .random)
        /// The peer's private address, which the controller resolved; zero if it did not resolve one.
        package var peerPrivateAddress = DeviceAddress(0, .random)
        package var interval = Reported<ConnectionInterval>(wire: 0)
        package var latency = Reported<PeripheralLatency>(wire: 0)
        package var timeout = Reported<SupervisionTimeout>(wire: 0)
        package var clockAccuracy = ClockAccuracy(wire: 0)

        package init() {}
        package init(
            status: Status,
            handle: ConnectionHandle,
            role: Role,
            peer: DeviceAddress,
            localPrivateAddress: DeviceAddress,
            peerPrivateAddress: DeviceAddress,
            interval: Reported<ConnectionInterval>,
            latency: Reported<PeripheralLatency>,
            timeout: Reported<SupervisionTimeout>,
            clockAccuracy: ClockAccuracy = ClockAccuracy(wire: 0)
        ) {
            self.status = status
            self.handle = handle
            self.role = role
            self.peer = peer
            self.localPrivateAddress = DeviceAddress(localPrivateAddress.value, .random)
            self.peerPrivateAddress = DeviceAddress(peerPrivateAddress.value, .random)
            self.interval = interval
            self.latency = latency
            self.timeout = timeout
            self.clockAccuracy = clockAccuracy
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&role, "Role")
            try wire.typedAddress(&peer, kind: "Peer Address Type", "Peer Address")
            try wire.address(&localPrivateAddress, "Local Resolvable Private Address")
            try wire.address(&peerPrivateAddress, "Peer Resolvable Private Address")
            try wire.field(&interval, "Connection Interval")
            try wire.field(&latency, "Peripheral Latency")
            try wire.field(&timeout, "Supervision Timeout")
            try wire.field(&clockAccuracy, "Central Clock Accuracy")
        }
    }

    /// Reports that the parameters of a connection have changed or that an update has failed.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.3.
    package struct LEConnectionUpdateComplete: HCILEEvent {
        package static var subevent: LESubevent { .connectionUpdateComplete }

        package var status = Status.success
        package var handle = ConnectionHandle.lowest
        package var interval = Reported<ConnectionInterval>(wire: 0)
        package var latency = Reported<PeripheralLatency>(wire: 0)
        package var timeout = Reported<SupervisionTimeout>(wire: 0)

        package init() {}
        package init(
            status: Status,
            handle: ConnectionHandle,
            interval: Reported<ConnectionInterval>,
            latency: Reported<PeripheralLatency>,
            timeout: Reported<SupervisionTimeout>
        ) {
            self.status = status
            self.handle = handle
            self.interval = interval
            self.latency = latency
            self.timeout = timeout
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&interval, "Connection Interval")
            try wire.field(&latency, "Peripheral Latency")
            try wire.field(&timeout, "Supervision Timeout")
        }
    }

    /// The LE features of a peer's controller, or the reason why they could not be read.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.4.
    package struct LEReadRemoteFeaturesComplete: HCILEEvent {
        package static var subevent: LESubevent { .readRemoteFeaturesComplete }

        package var status = Status.success
        package var handle = ConnectionHandle.lowest
        package var features: LEFeatures = []

        package init() {}
        package init(status: Status, handle: ConnectionHandle, features: LEFeatures) {
            self.status = status
            self.handle = handle
            self.features = features
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&features, "LE Features")
        }
    }

    /// A peer's request for new connection parameters, which the host must accept or reject.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.6.
    package struct LERemoteConnectionParameterRequest: HCILEEvent {
        package static var subevent: LESubevent { .remoteConnectionParameterRequest }

        package var handle = ConnectionHandle.lowest
        package var minimum = Reported<ConnectionInterval>(wire: 0)
        package var maximum = Reported<ConnectionInterval>(wire: 0)
        package var latency = Reported<PeripheralLatency>(wire: 0)
        package var timeout = Reported<SupervisionTimeout>(wire: 0)

        package init() {}
        package init(
            handle: ConnectionHandle,
            minimum: Reported<ConnectionInterval>,
            maximum: Reported<ConnectionInterval>,
            latency: Reported<PeripheralLatency>,
            timeout: Reported<SupervisionTimeout>
        ) {
            self.handle = handle
            self.minimum = minimum
            self.maximum = maximum
            self.latency = latency
            self.timeout = timeout
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.field(&minimum, "Interval Min")
            try wire.field(&maximum, "Interval Max")
            try wire.field(&latency, "Max Latency")
            try wire.field(&timeout, "Timeout")
        }
    }
}
