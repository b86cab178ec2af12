extension HCI {
    /// The kinds of data from the controller for which the host enables flow control.
    package enum HostFlowControl: UInt8, WireField, CustomStringConvertible {
        case off = 0, acl = 1, synchronous = 2, both = 3

        package var description: String {
            switch self {
            case .off: "off"
            case .acl: "ACL"
            case .synchronous: "synchronous"
            case .both: "ACL and synchronous"
            }
        }
    }

    /// Sets the events that the controller may send.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.1.
    package struct SetEventMask: HCICommand {
        package static var opcode: Opcode { .setEventMask }
        package typealias Return = StatusReturn

        package var mask = EventMask.standard

        package init() {}
        package init(mask: EventMask) {
            self.mask = mask
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&mask, "Event Mask")
        }
    }

    /// Resets the controller to its state after power-on.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.2.
    package struct Reset: HCICommand {
        package static var opcode: Opcode { .reset }
        package typealias Return = StatusReturn

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reads the transmit power on a connection.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.35.
    package struct ReadTransmitPowerLevel: HCICommand {
        package static var opcode: Opcode { .readTransmitPowerLevel }

        package var handle = ConnectionHandle.lowest
        /// True to read the maximum power instead of the current power.
        package var maximum = false

        package init() {}
        package init(handle: ConnectionHandle, maximum: Bool) {
            self.handle = handle
            self.maximum = maximum
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.flag(&maximum, "Type")
        }
    }

    /// Enables or disables flow control of data from the controller to the host.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.38.
    package struct SetControllerToHostFlowControl: HCICommand {
        package static var opcode: Opcode { .setControllerToHostFlowControl }
        package typealias Return = StatusReturn

        package var flowControl = HostFlowControl.off

        package init() {}
        package init(flowControl: HostFlowControl) {
            self.flowControl = flowControl
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&flowControl, "Flow Control Enable")
        }
    }

    /// Tells the controller the size of the host's data buffers.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.39.
    package struct HostBufferSize: HCICommand {
        package static var opcode: Opcode { .hostBufferSize }
        package typealias Return = StatusReturn

        /// The maximum payload of an ACL packet, in octets.
        package var aclLength: UInt16 = 0
        package var synchronousLength: UInt8 = 0
        /// The number of ACL packets that the host can hold.
        package var aclCount: UInt16 = 0
        package var synchronousCount: UInt16 = 0

        package init() {}
        package init(aclLength: UInt16, synchronousLength: UInt8, aclCount: UInt16, synchronousCount: UInt16) {
            self.aclLength = aclLength
            self.synchronousLength = synchronousLength
            self.aclCount = aclCount
            self.synchronousCount = synchronousCount
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.integer(&aclLength, "Host ACL Data Packet Length")
            try wire.integer(&synchronousLength, "Host Synchronous Data Packet Length")
            try wire.integer(&aclCount, "Host Total Num ACL Data Packets")
            try wire.integer(&synchronousCount, "Host Total Num Synchronous Data Packets")
        }
    }

    /// Returns credits to the controller for data that the host has processed.
    ///
    /// The host may send this command at any time, even while it waits for the response to another command. The
    /// controller responds only if there is an error.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.40.
    package struct HostNumberOfCompletedPackets: HCICommand {
        package static var opcode: Opcode { .hostNumberOfCompletedPackets }
        package typealias Return = NoReturn

        package var completed: [CompletedPackets] = []

        package init() {}
        package init(completed: [CompletedPackets]) {
            self.completed = completed
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.list(&completed, upTo: 63, "Num Handles")
        }
    }

    /// Sets the events with codes of 0x40 and above that the controller may send.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.69.
    package struct SetEventMaskPage2: HCICommand {
        package static var opcode: Opcode { .setEventMaskPage2 }
        package typealias Return = StatusReturn

        package var mask = EventMaskPage2.none

        package init() {}
        package init(mask: EventMaskPage2) {
            self.mask = mask
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&mask, "Event Mask Page 2")
        }
    }

    /// Reads whether the host of a dual-mode controller has declared that it supports LE.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.78.
    package struct ReadLEHostSupport: HCICommand {
        package static var opcode: Opcode { .readLEHostSupport }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Tells a dual-mode controller whether its host supports LE.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.79.
    package struct WriteLEHostSupport: HCICommand {
        package static var opcode: Opcode { .writeLEHostSupport }
        package typealias Return = StatusReturn

        package var supported = false
        /// A field that was once called Simultaneous LE Host; must be 0.
        package var unused: UInt8 = 0

        package init() {}
        package init(supported: Bool, unused: UInt8 = 0) {
            self.supported = supported
            self.unused = unused
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.flag(&supported, "LE Supported Host")
            try wire.integer(&unused, "Unused")
        }
    }

    /// Reads the authenticated payload timeout of a link.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.93.
    package struct ReadAuthenticatedPayloadTimeout: HCICommand {
        package static var opcode: Opcode { .readAuthenticatedPayloadTimeout }

        package var handle = ConnectionHandle.lowest

        package init() {}
        package init(handle: ConnectionHandle) {
            self.handle = handle
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
        }
    }

    /// Sets the authenticated payload timeout of a link.
    ///
    /// Core 6.0, Vol 4, Part E, 7.3.94.
    package struct WriteAuthenticatedPayloadTimeout: HCICommand {
        package static var opcode: Opcode { .writeAuthenticatedPayloadTimeout }
        package typealias Return = HandleReturn

        package var handle = ConnectionHandle.lowest
        package var timeout = AuthenticatedPayloadTimeout.standard

        package init() {}
        package init(handle: ConnectionHandle, timeout: AuthenticatedPayloadTimeout) {
            self.handle = handle
            self.timeout = timeout
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&handle, "Connection Handle")
            try wire.field(&timeout, "Authenticated Payload Timeout")
        }
    }
}

extension HCI.ReadTransmitPowerLevel {
    /// The return parameters: the current or the maximum transmit power on the connection.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var handle = ConnectionHandle.lowest
        package var power = TransmitPower.unavailable

        package init() {}
        package init(status: HCI.Status, handle: ConnectionHandle, power: TransmitPower) {
            self.status = status
            self.handle = handle
            self.power = power
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&power, "TX Power Level")
        }
    }
}

extension HCI.ReadLEHostSupport {
    /// The return parameters, with `supported` true if the host has declared that it supports LE.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var supported = false
        /// A field that was once called Simultaneous LE Host; ignored.
        package var unused: UInt8 = 0

        package init() {}
        package init(status: HCI.Status, supported: Bool, unused: UInt8 = 0) {
            self.status = status
            self.supported = supported
            self.unused = unused
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.flag(&supported, "LE Supported Host")
            try wire.integer(&unused, "Unused")
        }
    }
}

extension HCI.ReadAuthenticatedPayloadTimeout {
    /// The return parameters: the authenticated payload timeout of the link.
    package struct Return: Packet {
        package var status = HCI.Status.success
        package var handle = ConnectionHandle.lowest
        package var timeout = Reported<AuthenticatedPayloadTimeout>(wire: 0)

        package init() {}
        package init(status: HCI.Status, handle: ConnectionHandle, timeout: Reported<AuthenticatedPayloadTimeout>) {
            self.status = status
            self.handle = handle
            self.timeout = timeout
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.handle(&handle, after: status)
            try wire.field(&timeout, "Authenticated Payload Timeout")
        }
    }
}
