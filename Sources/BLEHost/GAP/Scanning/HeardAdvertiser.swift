import BLEWire

/// What an advertiser said last, and what clients were told of that.
struct HeardAdvertiser {
    private static let mostKept = 96
    /// How many advertisements in a row go without a scan response before none is expected.
    static let mostUnanswered = 3

    let address: DeviceAddress
    private(set) var isConnectable: Bool
    private(set) var isScannable: Bool
    private(set) var packet: AdvertisementPacket
    private var legacyType: HCI.LEAdvertisingReport.EventType?
    private(set) var rssi: RSSI
    /// The data of the advertisement.
    private(set) var data: [UInt8]
    /// Those of the last scan response.
    private(set) var response: [UInt8] = []
    /// Whether the response is one to what was said last.
    private(set) var isAnswered = false
    private var unanswered = 0
    /// Whether the data were too long to be kept after clients had been told.
    private var isForgotten = false
    /// What clients were told when the peer table had ``revision``; with the response or without.
    private var report: AdvertisementReport?
    private var reportIsAnswered = false
    /// Whether the device has said nothing else since ``report``.
    private var reportIsCurrent = false
    private var revision = 0

    init(_ advertisement: HeardAdvertisement, _ octets: Span<UInt8>) {
        address = advertisement.address
        isConnectable = advertisement.isConnectable
        isScannable = advertisement.isScannable
        packet = advertisement.packet
        legacyType = advertisement.legacyType
        rssi = advertisement.rssi
        data = [UInt8](copying: octets)
    }

    /// Whether a scan response is likely to follow what was said last.
    var expectsResponse: Bool { isScannable && unanswered < Self.mostUnanswered }

    /// Whether nothing more follows.
    var isComplete: Bool { isAnswered || !isScannable }

    /// The advertisement, with the scan response if there was one to it.
    var octets: AdvertisementOctets {
        AdvertisementOctets(advertisement: data, scanResponse: isAnswered ? response : [])
    }

    /// Takes the next advertisement; `false` if it says what the last one did.
    mutating func advertised(_ advertisement: HeardAdvertisement, _ octets: Span<UInt8>) -> Bool {
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
        /// It says what the last one did, or something else.
        case same, new
        /// What it belongs to is not known any more.
        case late
    }

    /// Takes a scan response.
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

    /// It is waited no longer for a scan response, whether it came or not.
    mutating func waited() { if !isAnswered, unanswered < Self.mostUnanswered { unanswered += 1 } }

    /// What clients were told of the same; `nil` if that was never, or if something else is known of the peer since.
    ///
    /// Mutating so that it works in place: an element of an array is copied to be read.
    mutating func report(revision: Int) -> AdvertisementReport? {
        guard reportIsCurrent, let report, self.revision == revision, reportIsAnswered == isAnswered else { return nil }
        return report.heard(rssi)
    }

    /// Takes the next advertisement, if it says what the last one did and no scan response is expected.
    ///
    /// - Returns: What clients are told of it, which is what they were told before; `nil`, and nothing has happened, if
    ///   it takes more.
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

    /// Takes the next advertisement, if it says what the last one did and a scan response is expected; `false`, and
    /// nothing has happened, if not.
    mutating func heardAgain(_ advertisement: LoneAdvertisement, _ octets: Span<UInt8>) -> Bool {
        guard expectsResponse, !isForgotten, legacyType?.wire == advertisement.type.wire,
            data.span.hasSameOctets(as: octets)
        else { return false }
        rssi = advertisement.rssi
        isAnswered = false
        return true
    }

    /// What clients were told last, whatever the device has said since; `nil` if something else is known of the peer
    /// since.
    func earlier(revision: Int) -> AdvertisementReport? { self.revision == revision ? report : nil }

    /// Keeps what clients are told, unless there is too much of it.
    mutating func told(_ report: AdvertisementReport, revision: Int) {
        guard data.count + response.count <= Self.mostKept else {
            (data, response, self.report, isForgotten) = ([], [], nil, true)
            return
        }
        (self.report, self.revision, reportIsAnswered, reportIsCurrent) = (report, revision, isAnswered, true)
    }
}

extension AdvertisementPacket {
    /// Whether `other` says the same; compared as numbers, for this is done for each packet.
    fileprivate func says(_ other: Self) -> Bool {
        isLegacy == other.isLegacy && isScannable == other.isScannable && isDirected == other.isDirected
            && isTruncated == other.isTruncated && primaryPHY.wire == other.primaryPHY.wire
            && secondaryPHY.wire == other.secondaryPHY.wire && set.wire == other.set.wire
            && transmitPower.wire == other.transmitPower.wire
    }
}

extension Span<UInt8> {
    /// Whether the octets are the same ones; they are compared eight at a time, some of them twice.
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

    /// Eight octets as one number, the first lowest.
    @inline(__always)
    private func word(at start: Int) -> UInt64 {
        UInt64(self[start]) | UInt64(self[start &+ 1]) << 8 | UInt64(self[start &+ 2]) << 16
            | UInt64(self[start &+ 3]) << 24 | UInt64(self[start &+ 4]) << 32 | UInt64(self[start &+ 5]) << 40
            | UInt64(self[start &+ 6]) << 48 | UInt64(self[start &+ 7]) << 56
    }
}
