/// A view of a legacy advertisement or scan response that is the only report in its event, as most are.
///
/// It contains only the type, the address and the signal strength. The advertising data stays in the received packet.
///
/// All members can be inlined into other modules, because the host tries to create this view from every received
/// packet.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.2.
@usableFromInline
package struct LoneAdvertisement: Equatable, Sendable {
    /// The offset of the data in the H4 packet.
    ///
    /// The data ends before the last octet of the packet, which is the signal strength.
    @inlinable package static var start: Int { 14 }

    @usableFromInline package let type: HCI.LEAdvertisingReport.EventType
    @usableFromInline package let address: DeviceAddress
    @usableFromInline package let rssi: RSSI

    /// Reads the fields of an H4 packet; returns `nil` unless the packet is an event with a single legacy report.
    @inlinable @inline(__always)
    package init?(_ packet: Span<UInt8>) {
        let count = packet.count, start = Self.start
        guard count > start else { return nil }
        let head = packet.extracting(0..<start)
        let low = UInt32(head[7]) | UInt32(head[8]) << 8 | UInt32(head[9]) << 16 | UInt32(head[10]) << 24
        let high = UInt32(head[11]) | UInt32(head[12]) << 8
        guard head[0] == HCI.PacketType.event.wire, head[1] == 0x3E,  // ``HCI/EventCode/leMeta``
            Int(head[2]) == count &- 3, head[3] == 0x02,  // ``HCI/LESubevent/advertisingReport``
            head[4] == 1, Int(head[13]) == count &- start &- 1
        else { return nil }
        type = HCI.LEAdvertisingReport.EventType(wire: head[5])
        address = DeviceAddress(UInt64(low) | UInt64(high) << 32, DeviceAddress.Kind(wire: head[6]))
        rssi = RSSI(wire: packet[count &- 1])
    }

    /// Returns the advertising data in `packet`, which must be the packet that this view was created from.
    @inlinable @inline(__always)
    @_lifetime(copy packet)
    package func data(in packet: Span<UInt8>) -> Span<UInt8> {
        packet.extracting(Self.start..<max(packet.count &- 1, Self.start))
    }
}
