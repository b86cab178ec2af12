import BLEWire

/// The advertisers that were seen, each at a fixed position while it is in the table.
///
/// When the table is full, an advertiser that was not seen recently is replaced. Advertisers whose scan response is
/// awaited are never replaced.
struct KnownAdvertisers {
    private struct Entry {
        var advertiser: KnownAdvertiser
        /// True if a packet from the advertiser was received since the last search for an entry to replace.
        var isRecent = true
    }

    private var table: HashIndex
    private var entries: [Entry] = []
    private let capacity: Int
    private let secret: UInt64
    private var clockHand = 0
    /// The advertisers whose scan response is awaited.
    private(set) var waits = ScanResponseWaits()

    /// Creates an empty table for at most `capacity` advertisers.
    ///
    /// - Precondition: At any time, the scan responses of fewer than `capacity` advertisers are awaited.
    init(capacity: Int, secret: UInt64) {
        self.capacity = capacity
        self.secret = secret
        table = HashIndex(secret: secret)
    }

    /// The number of advertisers in the table.
    var count: Int { entries.count }

    /// Returns the position of an advertiser; `nil` if it is not in the table.
    ///
    /// `mutating` to avoid a copy.
    @inline(__always)
    mutating func index(of address: DeviceAddress) -> Int? { table.index(of: address) }

    subscript(index: Int) -> KnownAdvertiser { entries[index].advertiser }

    mutating func removeAll() { self = Self(capacity: capacity, secret: secret) }

    /// Inserts an advertiser and returns its position.
    ///
    /// If the table is full, the new advertiser replaces another one.
    mutating func insert(_ advertiser: KnownAdvertiser) -> Int {
        let index: Int
        if entries.count < capacity {
            index = entries.count
            entries.append(Entry(advertiser: advertiser))
        } else {
            index = makeRoom()
            table.remove(entries[index].advertiser.address)
            entries[index] = Entry(advertiser: advertiser)
        }
        table.insert(advertiser.address, at: index)
        return index
    }

    /// Processes the next advertisement of the advertiser at `index`; returns `false` if it repeats the last one.
    mutating func advertised(_ index: Int, _ advertisement: ReceivedAdvertisement, _ octets: Span<UInt8>) -> Bool {
        entries[index].isRecent = true
        return entries[index].advertiser.advertised(advertisement, octets)
    }

    /// Processes a scan response from the advertiser at `index`.
    mutating func responded(_ index: Int, _ rssi: RSSI, _ octets: Span<UInt8>) -> KnownAdvertiser.OnRespond {
        entries[index].isRecent = true
        return entries[index].advertiser.responded(rssi, octets)
    }

    /// Returns whether a scan response to an advertisement of this advertiser is likely.
    func expectsResponse(_ index: Int) -> Bool { entries[index].advertiser.expectsResponse }

    /// Records that a packet from an advertiser was received that does not need to be reported to any client.
    mutating func noteReceived(_ index: Int) { entries[index].isRecent = true }

    /// Returns the last report with the current signal strength; `nil` if the report does not contain the current data,
    /// or if the peer table has changed since.
    mutating func report(_ index: Int, revision: Int) -> AdvertisementReport? {
        entries[index].advertiser.report(revision: revision)
    }

    mutating func noteReported(_ index: Int, _ report: AdvertisementReport, revision: Int) {
        entries[index].advertiser.noteReported(report, revision: revision)
    }

    /// Processes the next advertisement of a known advertiser, if the advertisement repeats the last one and no scan
    /// response is expected.
    ///
    /// - Returns: The report for clients; `nil`, without side effects, if these conditions are not met, if a scan
    ///   response is already awaited, or if the last report is no longer correct.
    @inline(__always)
    mutating func repeated(
        _ index: Int,
        _ advertisement: LoneAdvertisement,
        _ octets: Span<UInt8>,
        revision: Int
    ) -> AdvertisementReport? {
        guard !waits.contains(index) else { return nil }
        // A single span for all changes, so that the array is checked for other references only once.
        var all = entries.mutableSpan
        guard let report = all[index].advertiser.repeated(advertisement, octets, revision: revision)
        else { return nil }
        all[index].isRecent = true
        return report
    }

    /// Processes the next advertisement of a known advertiser, if the advertisement repeats the last one and a scan
    /// response is expected.
    ///
    /// Returns `false`, without side effects, if these conditions are not met, or if a scan response is already
    /// awaited.
    mutating func receiveRepeated(_ index: Int, _ advertisement: LoneAdvertisement, _ octets: Span<UInt8>) -> Bool {
        guard !waits.contains(index), entries[index].advertiser.receiveRepeated(advertisement, octets) else {
            return false
        }
        entries[index].isRecent = true
        return true
    }

    /// Starts to wait for the scan response of the advertiser at `index`; this wait must not have begun already.
    mutating func wait(_ index: Int, since now: Instant) { waits.begin(index, at: now) }

    /// Ends the wait for an advertiser's scan response; returns `false` if none was awaited.
    mutating func endWait(_ index: Int) -> Bool {
        guard waits.end(index) else { return false }
        entries[index].advertiser.waited()
        return true
    }

    /// Returns the position of an advertiser to replace: the next one that was not received since the last search.
    private mutating func makeRoom() -> Int {
        while true {
            let index = clockHand
            clockHand = clockHand + 1 < entries.count ? clockHand + 1 : 0
            guard !waits.contains(index) else { continue }
            if !entries[index].isRecent { return index }
            entries[index].isRecent = false
        }
    }
}
