import BLEWire
import Testing

@Suite("Values: times, powers and sets")
struct ControllerValueTests {
    @Test(
        "A time value exists only within the bounds of the specification",
        arguments: [
            (bounds(ScanInterval.self), 0x0004, 0xFFFF), (bounds(AdvertisingInterval.self), 0x0020, 0x4000),
            (bounds(SupervisionTimeout.self), 0x000A, 0x0C80), (bounds(PeripheralLatency.self), 0, 0x01F3),
            (bounds(ConnectionInterval.self), 0x0006, 0x0C80), (bounds(PrivateAddressTimeout.self), 1, 0x0E10),
            (bounds(AuthenticatedPayloadTimeout.self), 1, 0xFFFF), (bounds(ConnectionHandle.self), 0, 0x0EFF),
        ] as [([UInt16], UInt16, UInt16)]
    )
    func ranges(found: [UInt16], first: UInt16, last: UInt16) {
        #expect(found == [first, last])
    }

    /// The least and the greatest code that has a value, if all between them have one too.
    private static func bounds<Value: WireField>(_: Value.Type) -> [UInt16] where Value.Raw == UInt16 {
        let valid = (0...UInt16.max).filter { Value(wire: $0) != nil }
        guard let first = valid.first, let last = valid.last, valid.count == Int(last - first) + 1 else { return [] }
        return [first, last]
    }

    @Test("A duration is rounded down to an interval, and clamped to the bounds")
    func rounding() {
        #expect(ScanInterval(.milliseconds(10)) == .standard)
        #expect(ScanInterval(.microseconds(10_624)) == .standard)
        #expect(ScanInterval(.zero).duration == .microseconds(2500))
        #expect(AdvertisingInterval(.milliseconds(1)).duration == .milliseconds(20))
        #expect(AdvertisingInterval(.seconds(60)).duration == .milliseconds(10_240))
        #expect(SupervisionTimeout(.milliseconds(729)).duration == .milliseconds(720))
        #expect(SupervisionTimeout(.seconds(99)).duration == .seconds(32))
    }

    @Test(
        "Values are shown with their units",
        arguments: [
            (ConnectionInterval.shortest, "7.5 ms"), (AdvertisingInterval.standard, "1.28 s"),
            (SupervisionTimeout(.seconds(2)), "2 s"), (SupervisionTimeout(.milliseconds(720)), "720 ms"),
            (RSSI(dBm: -60), "-60 dBm"), (RSSI.unavailable, "unavailable"), (TransmitPower(dBm: 4), "4 dBm"),
            (EnableDuration.unlimited, "unlimited"), (ScanPeriod(wire: 1), "1.28 s"), (PHY.leCoded, "LE Coded"),
            (PHYSet([.le1M, .leCoded]), "LE 1M, LE Coded"), (PHYSet(wire: 0x08), "bit 3"), (PHYSet([]), "none"),
            (ClockAccuracy(wire: 5), "50 ppm"), (ClockAccuracy(wire: 8), "reserved (0x8)"),
            (Reported<ConnectionInterval>(wire: 0), "out of range (0x0)"),
            (Reported(ConnectionInterval.shortest), "7.5 ms"),
            (LEFeatures([.encryption, .ping]), "LE Encryption, LE Ping"),
            (LEFeatures.channelSelectionAlgorithm2, "Channel Selection Algorithm #2"),
        ] as [(any CustomStringConvertible & Sendable, String)]
    )
    func descriptions(value: any CustomStringConvertible & Sendable, text: String) {
        #expect(value.description == text)
    }

    @Test(
        "Each command has its bit in the table of section 6.27",
        arguments: [
            (.disconnect, 0, 5), (.setEventMask, 5, 6), (.reset, 5, 7), (.readBDADDR, 15, 1),
            (.setEventMaskPage2, 22, 2), (.leSetEventMask, 25, 0), (.leSetScanEnable, 26, 3), (.leRand, 27, 7),
            (.leReadSupportedStates, 28, 3), (.leSetDataLength, 33, 6), (.leSetPHY, 35, 6),
            (.leSetExtendedAdvertisingParameters, 36, 2), (.leExtendedCreateConnection, 37, 7),
            (.leSetPrivacyMode, 39, 2), (.leReadBufferSizeV2, 41, 5), (.leSetHostFeature, 44, 1),
        ] as [(HCI.Opcode, Int, UInt8)]
    )
    func commandBit(opcode: HCI.Opcode, octet: Int, bit: UInt8) {
        let set = SupportedCommands([opcode])
        #expect(set.octets[octet] == 1 << bit)
        #expect(set.octets.reduce(0) { $0 + $1.nonzeroBitCount } == 1)
        #expect(set.contains(opcode))
    }

    @Test("Every declared command has a bit of its own, which can be set and cleared")
    func everyCommandBit() throws {
        let opcodes = HCI.commands.map { $0.opcode }
        var set = SupportedCommands(opcodes)
        #expect(set.octets.reduce(0) { $0 + $1.nonzeroBitCount } == opcodes.count)
        #expect(SupportedCommands(octets: set.octets) == set)
        for opcode in opcodes { set.remove(opcode) }
        #expect(set == SupportedCommands())
        set.insert(HCI.Opcode(wire: 0xFC01))
        #expect(!set.contains(HCI.Opcode(wire: 0xFC01)))
        #expect(SupportedCommands(octets: [0]) == nil)
    }

    @Test("Each event has a mask bit, and responses to commands cannot be masked")
    func masks() {
        #expect(([.leMeta] as EventMask).wire == 0x2000_0000_0000_0000)
        #expect(([.disconnectionComplete, .encryptionKeyRefreshComplete] as EventMask).wire == 0x8000_0000_0010)
        #expect(EventMask.standard.allows(.hardwareError))
        #expect(!EventMask.standard.allows(.leMeta))
        #expect(EventMask(wire: 0).allows(.commandComplete))
        #expect(!EventMask(wire: .max).allows(.authenticatedPayloadTimeoutExpired))
        #expect(([.authenticatedPayloadTimeoutExpired] as EventMaskPage2).wire == 0x80_0000)
        #expect(EventMaskPage2(wire: .max).allows(.authenticatedPayloadTimeoutExpired))
        #expect(LEEventMask.standard.allows(.longTermKeyRequest))
        #expect(!LEEventMask.standard.allows(.dataLengthChange))
        #expect(([.connectionComplete, .extendedAdvertisingReport] as LEEventMask).wire == 0x1001)
        #expect(!LEEventMask(wire: .max).allows(HCI.LESubevent(wire: 0)))
    }

    @Test("An extended event type tells whether the data is complete")
    func dataStatus() {
        typealias Kind = HCI.LEExtendedAdvertisingReport.EventType
        #expect(Kind(wire: 0x0000).dataStatus == .complete)
        #expect(Kind(wire: 0x0020).dataStatus == .incomplete)
        #expect(Kind(wire: 0x0040).dataStatus == .truncated)
        #expect(Kind(wire: 0x0060).dataStatus == .reserved)
        #expect(Kind([.connectable, .legacy], data: .truncated).wire == 0x0051)
    }
}
