import BLEWire

/// The last data of an advertiser, and the last report to clients.
struct KnownAdvertiser {
    private static let mostKept = 96
    /// The number of consecutive advertisements without a scan response after which none is expected.
    static let mostUnanswered = 3

    let address: DeviceAddress
    private(set) var isConnectable: Bool
    private(set) var isScannable: Bool
    private(set) var packet: AdvertisementPacket
    private var legacyType: HCI.LEAdvertisingReport.EventType?
    private(set) var rssi: RSSI
    /// The data of the advertisement.
    private(set) var data: [UInt8]
    /// The data of the last scan response.
    private(set) var response: [UInt8] = []
    /// True if the response belongs to the last advertisement.
    private(set) var isAnswered = false
    private var unanswered = 0
    /// True if the data were too long to be kept after they were reported.
    private var isForgotten = false
    /// The last report, made at ``revision`` of the peer table, with or without the response.
    private var report: AdvertisementReport?
    private var reportIsAnswered = false
    /// True if the device has sent nothing else since ``report``.
    private var reportIsCurrent = false
    private var revision = 0

    init(_ advertisement: ReceivedAdvertisement, _ octets: Span<UInt8>) {
        address = advertisement.address
        isConnectable = advertisement.isConnectable
        isScannable = advertisement.isScannable
        packet = advertisement.packet
        legacyType = advertisement.legacyType
        rssi = advertisement.rssi
        data = [UInt8](copying: octets)
    }

    /// True if a scan response is likely to follow.
    var expectsResponse: Bool { isScannable && unanswered < Self.mostUnanswered }

    /// True if nothing more follows.
    var isComplete: Bool { isAnswered || !isScannable }

    /// The advertisement, with the scan response if there was one to it.
    var octets: AdvertisementOctets {
        AdvertisementOctets(advertisement: data, scanResponse: isAnswered ? response : [])
    }

    /// Processes the next advertisement; returns `false` if it repeats the last one.
    mutating func advertised(_ advertisement: ReceivedAdvertisement, _ octets: Span<UInt8>) -> Bool {
        rssi = advertisement.rssi
        isAnswered = false
        if !isForgotten, isConnectable == advertisement.isConnectable, isScannable == advertisement.isScannable,
            packet.says(advertisement.packet), data.span.hasSameOctets(as: octets)
        {
            return false
        }
        isConnectable = advertisement.isConnectable
        isScannable = advertisement.isScannable
        packet = advertisement.packet
        legacyType = advertisement.legacyType
        data = [UInt8](copying: octets)
        reportIsCurrent = false
        isForgotten = false
        return true
    }

    enum OnRespond {
        /// A repetition of the last one, or something else.
        case same, new
        /// The advertisement that it belongs to is not known any more.
        case late
    }

    /// Processes a scan response.
    mutating func responded(_ rssi: RSSI, _ octets: Span<UInt8>) -> OnRespond {
        guard !isForgotten else { return .late }
        self.rssi = rssi
        isAnswered = true
        unanswered = 0
        if response.span.hasSameOctets(as: octets) { return .same }
        response = [UInt8](copying: octets)
        if reportIsAnswered { reportIsCurrent = false }
        return .new
    }

    /// Records the end of the wait for a scan response, whether or not it arrived.
    mutating func waited() { if !isAnswered, unanswered < Self.mostUnanswered { unanswered += 1 } }

    /// Returns the last report of the same data; `nil` if there is none or it is outdated.
    ///
    /// `mutating` to avoid a copy of the array element.
    mutating func report(revision: Int) -> AdvertisementReport? {
        guard reportIsCurrent, let report, self.revision == revision, reportIsAnswered == isAnswered else { return nil }
        return report.heard(rssi)
    }

    /// Processes the next advertisement if it repeats the last one and no scan response is expected.
    ///
    /// - Returns: The reason for the refusal, which clients received before; `nil`, without any effect, if there is
    ///   room for more.
    @inline(__always)
    mutating func repeated(
        _ advertisement: LoneAdvertisement,
        _ octets: Span<UInt8>,
        revision: Int
    ) -> AdvertisementReport? {
        guard !expectsResponse, reportIsCurrent, !reportIsAnswered, !isAnswered, self.revision == revision,
            legacyType?.wire == advertisement.type.wire, data.span.hasSameOctets(as: octets), let report
        else { return nil }
        rssi = advertisement.rssi
        return report.heard(rssi)
    }

    /// Processes the next advertisement if it repeats the last one and a scan response is expected; returns `false`,
    /// without side effects, otherwise.
    mutating func heardAgain(_ advertisement: LoneAdvertisement, _ octets: Span<UInt8>) -> Bool {
        guard expectsResponse, !isForgotten, legacyType?.wire == advertisement.type.wire,
            data.span.hasSameOctets(as: octets)
        else { return false }
        rssi = advertisement.rssi
        isAnswered = false
        return true
    }

    /// Returns the last report, whatever the device has sent since; `nil` if it is outdated.
    func earlier(revision: Int) -> AdvertisementReport? { self.revision == revision ? report : nil }

    /// Stores the report for clients, unless it is too large.
    mutating func told(_ report: AdvertisementReport, revision: Int) {
        guard data.count + response.count <= Self.mostKept else {
            (data, response, self.report, isForgotten) = ([], [], nil, true)
            return
        }
        (self.report, self.revision, reportIsAnswered, reportIsCurrent) = (report, revision, isAnswered, true)
    }
}

extension AdvertisementPacket {
    /// Returns whether `other` is equal.
    ///
    /// Compares numbers, because this is done for each packet.
    fileprivate func says(_ other: Self) -> Bool {
        isLegacy == other.isLegacy && isScannable == other.isScannable && isDirected == other.isDirected
            && isTruncated == other.isTruncated && primaryPHY.wire == other.primaryPHY.wire
            && secondaryPHY.wire == other.secondaryPHY.wire && set.wire == other.set.wire
            && transmitPower.wire == other.transmitPower.wire
    }
}

extension Span<UInt8> {
    /// Returns whether the octets are equal.
    ///
    /// Compares eight at a time, some of them twice.
    @inline(__always)
    func hasSameOctets(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        // Most advertisements: the first 16 and the last.
        if count >= 16, count <= 32 {
            let first = (word(at: 0) ^ other.word(at: 0)) | (word(at: 8) ^ other.word(at: 8))
            let last = (word(at: count &- 16) ^ other.word(at: count &- 16))
            return first | last | (word(at: count &- 8) ^ other.word(at: count &- 8)) == 0
        }
        return hasSameWords(as: other)
    }

    @inline(never)
    private func hasSameWords(as other: Span<UInt8>) -> Bool {
        var start = 0
        while start &+ 8 <= count {
            if word(at: start) != other.word(at: start) { return false }
            start = start &+ 8
        }
        for index in start..<count where self[index] != other[index] { return false }
        return true
    }

    /// Returns eight octets as one number, the first least significant.
    @inline(__always)
    private func word(at start: Int) -> UInt64 {
        UInt64(self[start]) | UInt64(self[start &+ 1]) << 8 | UInt64(self[start &+ 2]) << 16
            | UInt64(self[start &+ 3]) << 24 | UInt64(self[start &+ 4]) << 32 | UInt64(self[start &+ 5]) << 40
            | UInt64(self[start &+ 6]) << 48 | UInt64(self[start &+ 7]) << 56
    }
}
