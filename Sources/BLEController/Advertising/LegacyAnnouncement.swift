import BLEWire

/// The packet that a legacy advertising event sends on each channel, and the scan response.
struct LegacyAnnouncement {
    let controller: Int
    let set: AdvertisingSet
    let own: OwnAddress
    /// The target's over-the-air address in a directed advertisement; `nil` if the advertisement is not directed.
    let target: DeviceAddress?

    var address: DeviceAddress { own.onAir }

    var power: Int { self.set.power }

    /// The length of the payload, in octets.
    var length: Int { self.set.properties.contains(.directed) ? 12 : 6 + set.data.count }

    var data: [UInt8] { self.set.properties.contains(.directed) ? [] : set.data }

    /// The kind of report for the advertisement.
    var kind: AdvertisingReport.Kind {
        if self.set.properties.contains(.directed) { return .directed }
        if self.set.properties.contains(.connectable) { return .connectable }
        return set.properties.contains(.scannable) ? .scannable : .nonConnectable
    }

    /// The kind of report for the scan response.
    var responseKind: AdvertisingReport.Kind {
        self.set.properties.contains(.connectable) ? .connectableResponse : .scannableResponse
    }

    var pdu: AdvertisingPDU {
        let packet = LL.Advertisement(advertiser: address, data: data)
        return switch kind {
        case .connectable: .connectable(packet, channelSelection: true)
        case .directed:
            .directed(.init(advertiser: address, target: target ?? .none), channelSelection: true)
        case .scannable: .scannable(packet)
        default: .nonConnectable(packet)
        }
    }
}

/// A device that is ready to respond to an advertisement; of several such devices, only one responds.
struct Candidate {
    let listener: Int
    /// The advertiser's address, as the host of the responding device knows it.
    let peer: DeviceAddress
    /// The mean strength of the advertiser's packets at this device, in dBm.
    let strength: Int
    /// The mean strength of this device's packets at the advertiser, in dBm.
    let answer: Int
    /// True if the device sends a connection request, false if it sends a scan request.
    let connects: Bool
}

/// A scanner's report of one advertisement to its host.
struct AdvertisingReport: Sendable {
    /// The kind of advertisement, with the bits of extended advertising reports.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.13.
    struct Kind: OptionSet, Hashable, Sendable {
        let rawValue: UInt16
        init(rawValue: UInt16) { self.rawValue = rawValue }

        static let isConnectable = Self(rawValue: 1)
        static let isScannable = Self(rawValue: 2)
        static let isDirected = Self(rawValue: 4)
        static let isResponse = Self(rawValue: 8)
        static let isLegacy = Self(rawValue: 16)

        static let connectable: Self = [.isLegacy, .isConnectable, .isScannable]
        static let directed: Self = [.isLegacy, .isConnectable, .isDirected]
        static let scannable: Self = [.isLegacy, .isScannable]
        static let nonConnectable: Self = [.isLegacy]
        static let connectableResponse: Self = [.isLegacy, .isConnectable, .isScannable, .isResponse]
        static let scannableResponse: Self = [.isLegacy, .isScannable, .isResponse]
    }

    let kind: Kind
    /// The advertiser's address as reported to the host; ``DeviceAddress/Kind/anonymous`` if the advertisement has
    /// none.
    let address: DeviceAddress
    /// The target of a directed advertisement as reported to the host; `nil` if the advertisement is not directed.
    let target: DeviceAddress?
    /// The received signal strength, in dBm.
    let strength: Int
    let data: [UInt8]
    var primary = AirPHY.oneMegabit
    /// The PHY of the auxiliary packet; `nil` for a legacy advertisement.
    var secondary: AirPHY?
    /// The set identifier and the data identifier of an extended advertisement; `nil` for a legacy advertisement.
    var dataInfo: LL.ExtendedAdvertisement.DataInfo?
    /// The transmit power that the advertisement states, in dBm; `nil` if it states none.
    var power: Int?
    /// True if ``data`` is incomplete, because a part of it was lost.
    var isTruncated = false
}
