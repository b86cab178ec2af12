extension HCI {
    /// Reports that a scan with limited duration has ended.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.17.
    package struct LEScanTimeout: HCILEEvent {
        package static var subevent: LESubevent { .scanTimeout }

        package init() {}

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {}
    }

    /// Reports that an advertising set has stopped, because a central has connected or a limit was reached.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.18.
    package struct LEAdvertisingSetTerminated: HCILEEvent {
        package static var subevent: LESubevent { .advertisingSetTerminated }

        package var status = Status.success
        package var set = AdvertisingHandle.first
        package var handle = ConnectionHandle.lowest
        package var completedEvents: UInt8 = 0

        package init() {}
        package init(status: Status, set: AdvertisingHandle, handle: ConnectionHandle, completedEvents: UInt8) {
            self.status = status
            self.set = set
            self.handle = handle
            self.completedEvents = completedEvents
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&status, "Status")
            try wire.field(&set, "Advertising Handle")
            try wire.handle(&handle, after: status)
            try wire.integer(&completedEvents, "Num Completed Extended Advertising Events")
        }
    }

    /// Reports that an advertising set has received a scan request.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.19.
    package struct LEScanRequestReceived: HCILEEvent {
        package static var subevent: LESubevent { .scanRequestReceived }

        package var set = AdvertisingHandle.first
        package var scanner = DeviceAddress.none

        package init() {}
        package init(set: AdvertisingHandle, scanner: DeviceAddress) {
            self.set = set
            self.scanner = scanner
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&set, "Advertising Handle")
            try wire.typedAddress(&scanner, kind: "Scanner Address Type", "Scanner Address")
        }
    }
}
