import BLEWire

/// The packets of an extended advertising event.
///
/// The packets on the primary channels point to a packet on a secondary channel. If the data is long, a chain of
/// further packets follows there.
///
/// Core 6.0, Vol 6, Part B, 4.4.2.3 to 4.4.2.8.
struct ExtendedAnnouncement {
    let controller: Int
    let set: AdvertisingSet
    let own: OwnAddress
    /// The target's over-the-air address in a directed advertisement; `nil` if the advertisement is not directed.
    let target: DeviceAddress?
    /// The secondary channel, which carries the auxiliary packets.
    let channel: Int

    /// The maximum payload of one packet, in octets.
    private static let payloadLimit = 255

    var address: DeviceAddress { own.onAir }

    /// The advertiser's address in the packets; `nil` for anonymous advertising.
    var packetAddress: DeviceAddress? { self.set.properties.contains(.anonymous) ? nil : address }

    var dataInfo: LL.ExtendedAdvertisement.DataInfo { .init(set: set.identifier, data: set.dataIdentifier) }

    var power: Int? { self.set.properties.contains(.includesPower) ? set.power : nil }

    private var mode: LL.ExtendedAdvertisement.Mode {
        if self.set.properties.contains(.connectable) { return .connectable }
        return set.properties.contains(.scannable) ? .scannable : .neither
    }

    /// The kind of report that scanners send to their hosts.
    var kind: AdvertisingReport.Kind {
        AdvertisingReport.Kind(rawValue: set.properties.rawValue & 7)
    }

    /// Returns the packet that is sent on a primary channel `offset` microseconds before the auxiliary packet to which
    /// it points.
    func primary(offset: Int) -> LL.ExtendedAdvertisement {
        var packet = LL.ExtendedAdvertisement()
        packet.mode = mode
        packet.dataInfo = dataInfo
        packet.auxiliary = .init(channel: UInt8(channel), offset: offset, phy: set.secondary.number - 1)
        return packet
    }

    /// Returns the packets on the secondary channel that carry `data`.
    ///
    /// Only the first packet may contain the advertiser's address. `isResponse` is true for a scan response, which
    /// contains the address even if the advertisement is anonymous.
    func chain(of data: [UInt8], isResponse: Bool) -> [LL.ExtendedAdvertisement] {
        var parts: [LL.ExtendedAdvertisement] = []
        var offset = 0
        repeat {
            var part = LL.ExtendedAdvertisement()
            part.dataInfo = dataInfo
            if parts.isEmpty {
                part.advertiser = isResponse ? address : packetAddress
                part.target = isResponse ? nil : target
                part.power = power.map { UInt8(bitPattern: Int8(clamping: $0)) }
                if !isResponse { part.mode = mode }
            }
            if data.count - offset > Self.payloadLimit - 1 - part.headerLength {
                part.auxiliary = .init(channel: UInt8(channel), offset: 0, phy: set.secondary.number - 1)
            }
            let end = min(data.count, offset + Self.payloadLimit - 1 - part.headerLength)
            part.data = Array(data[offset..<end])
            if part.auxiliary != nil {
                let delay = (set.secondary.airTime(part.length) + Spacing.auxiliary) / 1_000
                part.auxiliary = .init(channel: UInt8(channel), offset: Int(delay), phy: set.secondary.number - 1)
            }
            parts.append(part)
            offset = end
        } while offset < data.count
        return parts
    }
}

extension LL.ExtendedAdvertisement {
    /// The length of the payload on the air, in octets.
    var length: Int { 1 + headerLength + data.count }
}

/// The part of a packet chain that one receiver has received.
struct ChainReception {
    let data: [UInt8]
    let strength: Int
    let isTruncated: Bool
    let end: Instant
}
