/// A legacy advertisement or scan response that came alone in its event, as most do: looked at where it lies.
///
/// All of it can be put in line by other modules, for each packet that comes in is looked at so.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.2.
@usableFromInline
package struct LoneAdvertisement: Equatable, Sendable {
    /// Where the data begin in the H4 packet, of which the last octet is the strength.
    @inlinable package static var start: Int { 14 }

    @usableFromInline package let type: HCI.LEAdvertisingReport.EventType
    @usableFromInline package let address: DeviceAddress
    @usableFromInline package let rssi: RSSI

    /// Looks at a whole H4 packet; `nil` if it holds anything else, or that in another form.
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

    /// The data, in the packet that this was made of.
    @inlinable @inline(__always)
    @_lifetime(copy packet)
    package func data(in packet: Span<UInt8>) -> Span<UInt8> {
        packet.extracting(Self.start..<max(packet.count &- 1, Self.start))
    }
}
