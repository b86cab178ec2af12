import BLEWire

/// What a legacy advertising event says on each channel.
struct LegacyAnnouncement {
    let controller: Int
    let set: AdvertisingSet
    let own: OwnAddress
    /// Whom a directed advertisement is for, as the packet says it.
    let target: DeviceAddress?

    var address: DeviceAddress { own.onAir }

    var power: Int { self.set.power }

    /// The octets of payload.
    var length: Int { self.set.properties.contains(.directed) ? 12 : 6 + set.data.count }

    var data: [UInt8] { self.set.properties.contains(.directed) ? [] : set.data }

    /// The kind of report that a scanner makes of it.
    var kind: AdvertisingReport.Kind {
        if self.set.properties.contains(.directed) { return .directed }
        if self.set.properties.contains(.connectable) { return .connectable }
        return set.properties.contains(.scannable) ? .scannable : .nonConnectable
    }

    /// The kind of report that a scanner makes of the scan response.
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

/// Who wants to answer an advertisement.
struct Candidate {
    let listener: Int
    /// The advertiser, as the host of who wants to answer gets to see it.
    let peer: DeviceAddress
    /// The mean strength in dBm with which it hears the advertiser.
    let strength: Int
    /// The mean strength in dBm with which the advertiser hears it.
    let answer: Int
    /// Whether it wants to connect, rather than a scan response.
    let connects: Bool
}

/// What a scanner tells its host of one advertisement.
struct AdvertisingReport: Sendable {
    /// What was heard, with the bits of an extended report.
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
    /// The advertiser as the host gets to see it, be it that it did not say who it is.
    let address: DeviceAddress
    /// Whom a directed advertisement is for, as the host gets to see it.
    let target: DeviceAddress?
    /// In dBm.
    let strength: Int
    let data: [UInt8]
    var primary = AirPHY.oneMegabit
    /// The PHY of the auxiliary packet; `nil` for a legacy advertisement.
    var secondary: AirPHY?
    /// The set of an extended advertisement, and which of its data this is.
    var dataInfo: LL.ExtendedAdvertisement.DataInfo?
    /// What the advertiser says that it sends with, in dBm.
    var power: Int?
    /// Whether a part of the data was lost.
    var isTruncated = false
}
