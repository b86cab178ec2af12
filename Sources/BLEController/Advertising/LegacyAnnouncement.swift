import BLEWire

/// The packets of a legacy advertising event on each channel.
struct LegacyAnnouncement {
    let controller: Int
    let set: AdvertisingSet
    let own: OwnAddress
    /// The target of a directed advertisement, as in the packet.
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

/// A device that wants to respond to an advertisement.
struct Candidate {
    let listener: Int
    /// The advertiser's address, as reported to the responding device's host.
    let peer: DeviceAddress
    /// The mean strength of the advertiser at this device, in dBm.
    let strength: Int
    /// The mean strength of this device at the advertiser, in dBm.
    let answer: Int
    /// True to connect, false to request a scan response.
    let connects: Bool
}

/// A scanner's report of one advertisement to its host.
struct AdvertisingReport: Sendable {
    /// The kind of advertisement, with the bits of extended reports.
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
    /// The advertiser's address as reported to the host, possibly anonymous.
    let address: DeviceAddress
    /// The target of a directed advertisement, as reported to the host.
    let target: DeviceAddress?
    /// In dBm.
    let strength: Int
    let data: [UInt8]
    var primary = AirPHY.oneMegabit
    /// The PHY of the auxiliary packet; `nil` for a legacy advertisement.
    var secondary: AirPHY?
    /// The set of an extended advertisement, and the identifier of its data.
    var dataInfo: LL.ExtendedAdvertisement.DataInfo?
    /// The transmit power in the advertisement, in dBm.
    var power: Int?
    /// True if a part of the data was lost.
    var isTruncated = false
}
