import BLEWire

/// The last data of an advertiser, and the last report about it.
struct KnownAdvertiser {
    private static let mostKept = 96
    /// The number of consecutive unanswered advertisements after which no scan response is expected.
    static let mostUnanswered = 3

    let address: DeviceAddress
    private(set) var isConnectable: Bool
    private(set) var isScannable: Bool
    private(set) var packet: AdvertisementPacket
    private var legacyType: HCI.LEAdvertisingReport.EventType?
    private(set) var rssi: RSSI
    /// The data of the last advertisement.
    private(set) var data: [UInt8]
    /// The data of the last scan response, which may belong to an earlier advertisement.
    private(set) var response: [UInt8] = []
    /// True if ``response`` belongs to the last advertisement.
    private(set) var isAnswered = false
    private var unanswered = 0
    /// True if the data was dropped after it was reported, because it was too long to keep.
    private var hasDroppedData = false
    /// The last report; `nil` if there is none.
    ///
    /// It was made when the revision of the peer table was ``revision``, and includes the scan response if
    /// ``reportIsAnswered`` is true.
    private var report: AdvertisementReport?
    private var reportIsAnswered = false
    /// True if the device has not sent any other data since ``report`` was made.
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

    /// True if a scan response to an advertisement of this device is likely.
    var expectsResponse: Bool { isScannable && unanswered < Self.mostUnanswered }

    /// True if no scan response can follow.
    var isComplete: Bool { isAnswered || !isScannable }

    /// The data of the last advertisement, with its scan response if that has arrived.
    var octets: AdvertisementOctets {
        AdvertisementOctets(advertisement: data, scanResponse: isAnswered ? response : [])
    }

    /// Processes the next advertisement; returns `false` if it repeats the last one.
    mutating func advertised(_ advertisement: ReceivedAdvertisement, _ octets: Span<UInt8>) -> Bool {
        rssi = advertisement.rssi
        isAnswered = false
        if !hasDroppedData, isConnectable == advertisement.isConnectable, isScannable == advertisement.isScannable,
            packet.hasSameFields(as: advertisement.packet), data.span.hasSameOctets(as: octets)
        {
            return false
        }
        isConnectable = advertisement.isConnectable
        isScannable = advertisement.isScannable
        packet = advertisement.packet
        legacyType = advertisement.legacyType
        data = [UInt8](copying: octets)
        reportIsCurrent = false
        hasDroppedData = false
        return true
    }

    enum OnRespond {
        /// The scan response repeats the last one, or differs from it.
        case same, new
        /// The data of the advertisement that the scan response belongs to has been dropped.
        case late
    }

    /// Processes a scan response.
    mutating func responded(_ rssi: RSSI, _ octets: Span<UInt8>) -> OnRespond {
        guard !hasDroppedData else { return .late }
        self.rssi = rssi
        isAnswered = true
        unanswered = 0
        if response.span.hasSameOctets(as: octets) { return .same }
        response = [UInt8](copying: octets)
        if reportIsAnswered { reportIsCurrent = false }
        return .new
    }

    /// Records the end of the wait for a scan response, which may or may not have arrived.
    mutating func waited() { if !isAnswered, unanswered < Self.mostUnanswered { unanswered += 1 } }

    /// Returns the last report with the current signal strength; `nil` if the report does not contain the current data,
    /// or if `revision`, the current revision of the peer table, differs from that of the report.
    ///
    /// `mutating` to avoid a copy of the array element.
    mutating func report(revision: Int) -> AdvertisementReport? {
        guard reportIsCurrent, let report, self.revision == revision, reportIsAnswered == isAnswered else { return nil }
        return report.withRSSI(rssi)
    }

    /// Processes the next advertisement if it repeats the last one and no scan response is expected.
    ///
    /// - Returns: The report for clients; `nil`, without side effects, if these conditions are not met, or if the last
    ///   report is no longer correct.
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
        return report.withRSSI(rssi)
    }

    /// Processes the next advertisement if it repeats the last one and a scan response is expected.
    ///
    /// Otherwise returns `false`, without side effects.
    mutating func receiveRepeated(_ advertisement: LoneAdvertisement, _ octets: Span<UInt8>) -> Bool {
        guard expectsResponse, !hasDroppedData, legacyType?.wire == advertisement.type.wire,
            data.span.hasSameOctets(as: octets)
        else { return false }
        rssi = advertisement.rssi
        isAnswered = false
        return true
    }

    /// Returns the last report, even if the device has sent other data since; `nil` if the peer table has changed.
    func lastReport(revision: Int) -> AdvertisementReport? { self.revision == revision ? report : nil }

    /// Stores the report that clients have received.
    ///
    /// If the advertiser's data is too long to keep, the data is dropped, and the report is not stored.
    mutating func noteReported(_ report: AdvertisementReport, revision: Int) {
        guard data.count + response.count <= Self.mostKept else {
            (data, response, self.report, hasDroppedData) = ([], [], nil, true)
            return
        }
        (self.report, self.revision, reportIsAnswered, reportIsCurrent) = (report, revision, isAnswered, true)
    }
}

extension AdvertisementPacket {
    /// Returns whether all fields are equal.
    ///
    /// The method is called for each packet, so it compares the fields' values on the wire, which is fast.
    fileprivate func hasSameFields(as other: Self) -> Bool {
        isLegacy == other.isLegacy && isScannable == other.isScannable && isDirected == other.isDirected
            && isTruncated == other.isTruncated && primaryPHY.wire == other.primaryPHY.wire
            && secondaryPHY.wire == other.secondaryPHY.wire && set.wire == other.set.wire
            && transmitPower.wire == other.transmitPower.wire
    }
}

extension Span<UInt8> {
    /// Returns whether `other` contains the same octets.
    ///
    /// The method compares eight octets at a time, some of them twice.
    @inline(__always)
    func hasSameOctets(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        // Most advertisements have such a length. Compare the first and the last 16 octets, which may overlap.
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

    /// Returns the eight octets at `start` as a number, with the first octet as the least significant.
    @inline(__always)
    private func word(at start: Int) -> UInt64 {
        UInt64(self[start]) | UInt64(self[start &+ 1]) << 8 | UInt64(self[start &+ 2]) << 16
            | UInt64(self[start &+ 3]) << 24 | UInt64(self[start &+ 4]) << 32 | UInt64(self[start &+ 5]) << 40
            | UInt64(self[start &+ 6]) << 48 | UInt64(self[start &+ 7]) << 56
    }
}
