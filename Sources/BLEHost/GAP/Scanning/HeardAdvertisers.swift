import BLEWire

/// The advertisers that were heard, each at a place that stays its own as long as it is known.
///
/// When there are too many, one gives its place up that has not been heard for long. Those whose advertisement waits
/// for a scan response keep their place meanwhile.
struct HeardAdvertisers {
    private struct Entry {
        var advertiser: HeardAdvertiser
        /// Whether it was heard since somebody last looked for one to give up.
        var isRecent = true
    }

    private var table: PlaceTable
    private var entries: [Entry] = []
    private let capacity: Int
    private let secret: UInt64
    private var hand = 0
    /// Whose advertisement waits for a scan response.
    private(set) var waits = ScanResponseWaits()

    /// Creates an empty table.
    ///
    /// - Precondition: Fewer than `capacity` wait at any time.
    init(capacity: Int, secret: UInt64) {
        self.capacity = capacity
        self.secret = secret
        table = PlaceTable(secret: secret)
    }

    /// How many advertisers are known.
    var count: Int { entries.count }

    /// Where an advertiser has its place, if it is known; mutating, so that the table is looked at where it lies.
    @inline(__always)
    mutating func place(of address: DeviceAddress) -> Int? { table.place(of: address) }

    subscript(place: Int) -> HeardAdvertiser { entries[place].advertiser }

    mutating func removeAll() { self = Self(capacity: capacity, secret: secret) }

    /// Gives an advertiser that is not known a place, which may have been another's.
    mutating func insert(_ advertiser: HeardAdvertiser) -> Int {
        let place: Int
        if entries.count < capacity {
            place = entries.count
            entries.append(Entry(advertiser: advertiser))
        } else {
            place = makeRoom()
            table.remove(entries[place].advertiser.address)
            entries[place] = Entry(advertiser: advertiser)
        }
        table.insert(advertiser.address, at: place)
        return place
    }

    /// Takes the next advertisement of a known advertiser; `false` if it says what the last one did.
    mutating func advertised(_ place: Int, _ advertisement: HeardAdvertisement, _ octets: Span<UInt8>) -> Bool {
        entries[place].isRecent = true
        return entries[place].advertiser.advertised(advertisement, octets)
    }

    /// Takes a scan response of a known advertiser.
    mutating func responded(_ place: Int, _ rssi: RSSI, _ octets: Span<UInt8>) -> HeardAdvertiser.OnRespond {
        entries[place].isRecent = true
        return entries[place].advertiser.responded(rssi, octets)
    }

    /// Whether an advertiser is likely to have a scan response follow.
    func expectsResponse(_ place: Int) -> Bool { entries[place].advertiser.expectsResponse }

    /// An advertiser was heard of which nobody wants to know anything.
    mutating func passedOver(_ place: Int) { entries[place].isRecent = true }

    /// What clients were told of the same, if that is still right.
    mutating func report(_ place: Int, revision: Int) -> AdvertisementReport? {
        entries[place].advertiser.report(revision: revision)
    }

    mutating func told(_ place: Int, _ report: AdvertisementReport, revision: Int) {
        entries[place].advertiser.told(report, revision: revision)
    }

    /// Takes the next advertisement of a known advertiser that does not wait, if it says what the last one did and no
    /// scan response is expected.
    ///
    /// - Returns: What clients are told of it; `nil`, and nothing has happened, if it takes more.
    @inline(__always)
    mutating func repeated(
        _ place: Int,
        _ advertisement: LoneAdvertisement,
        _ octets: Span<UInt8>,
        revision: Int
    ) -> AdvertisementReport? {
        guard !waits.contains(place) else { return nil }
        // One look at who else has the entries, for all that is changed.
        var all = entries.mutableSpan
        guard let report = all[place].advertiser.repeated(advertisement, octets, revision: revision)
        else { return nil }
        all[place].isRecent = true
        return report
    }

    /// Takes the next advertisement of a known advertiser that does not wait, if it says what the last one did and a
    /// scan response is expected; `false`, and nothing has happened, if not.
    mutating func heardAgain(_ place: Int, _ advertisement: LoneAdvertisement, _ octets: Span<UInt8>) -> Bool {
        guard !waits.contains(place), entries[place].advertiser.heardAgain(advertisement, octets) else {
            return false
        }
        entries[place].isRecent = true
        return true
    }

    /// Has an advertiser that does not wait do so.
    mutating func wait(_ place: Int, since now: Instant) { waits.begin(place, at: now) }

    /// Has an advertiser wait no more; `false` if it did not.
    mutating func endWait(_ place: Int) -> Bool {
        guard waits.end(place) else { return false }
        entries[place].advertiser.waited()
        return true
    }

    /// The place of one that was not heard since this came by it last.
    private mutating func makeRoom() -> Int {
        while true {
            let place = hand
            hand = hand + 1 < entries.count ? hand + 1 : 0
            guard !waits.contains(place) else { continue }
            if !entries[place].isRecent { return place }
            entries[place].isRecent = false
        }
    }
}
