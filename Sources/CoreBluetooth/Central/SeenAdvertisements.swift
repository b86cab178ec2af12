import BLEHost
import BLEWire
import Foundation

/// What an app was told of advertisements, by peer: devices say the same again and again.
///
/// When there are too many all are forgotten, and made anew from what comes.
struct SeenAdvertisements {
    /// For how many peers this is kept.
    static let limit = 1_024

    fileprivate struct Entry {
        var report: AdvertisementReport
        var dictionary: [String: Any]
        let timestamp: Dictionary<String, Any>.Index
        /// Where the data of the manufacturer are, among the octets and in the dictionary, if they may be replaced.
        let manufacturer: (octets: Range<Int>, place: Dictionary<String, Any>.Index)?
    }

    /// An object for as long as somebody else keeps it; mutating, so that it is looked for in its place.
    private struct Sender {
        private weak var object: CBPeripheral?
        var peripheral: CBPeripheral? {
            mutating get { object }
            set { object = newValue }
        }
    }

    /// What the app looks for, which says what is told of the overflow area.
    private var scan = ScanRequest()
    /// By the lower half of the identifier, which is random but for its first bit.
    private var places = PlaceTable(secret: 0)
    private var entries: [Entry] = []
    /// The objects that stand for the peers, as long as the app keeps them and the names are those that they know.
    private var senders: [Sender] = []
    /// The one that was heard last.
    private var latest: Int?
    private var clock = Clock()

    /// The object that stands for the one that was heard last, if it was heard before and is still kept.
    var sender: CBPeripheral? {
        mutating get {
            guard let latest else { return nil }
            return senders[latest].peripheral
        }
        set { if let latest { senders[latest].peripheral = newValue } }
    }

    /// The app looks for something, or for something else.
    mutating func begin(_ scan: ScanRequest) {
        guard scan != self.scan else { return }
        self.scan = scan
        forgetAll()
    }

    /// Forgets what was said, but not what the app looks for.
    mutating func forgetAll() {
        places = PlaceTable(secret: 0)
        entries = []
        senders = []
        latest = nil
    }

    /// The advertisement as an app sees it that scans, with the time at which it is seen; `nil` if it was found for an
    /// earlier scan, which looked for something else.
    mutating func dictionary(of report: AdvertisementReport) -> [String: Any]? {
        let key = UInt64(truncatingIfNeeded: report.peer.rawValue) | 1 << 63, timestamp = clock.now()
        latest = places.place(of: key)
        if let latest, update(latest, report) {
            // In place, so that nothing is copied unless the app has kept the last one.
            entries[latest].dictionary.values[entries[latest].timestamp] = timestamp
            return entries[latest].dictionary
        }
        guard var dictionary = report.dictionary(for: scan) else {
            latest = nil
            return nil
        }
        dictionary[AdvertisementReport.timestampKey] = timestamp
        if let entry = Entry(report, dictionary, for: scan) { insert(entry, for: key) }
        return dictionary
    }

    /// Takes a report that says mostly the same; `false` for any other.
    private mutating func update(_ place: Int, _ report: AdvertisementReport) -> Bool {
        switch entries[place].update(report, for: scan) {
        case .same: return true
        case .renamed:
            senders[place].peripheral = nil
            return true
        case .other: return false
        }
    }

    private mutating func insert(_ entry: Entry, for key: UInt64) {
        if let latest {
            entries[latest] = entry
            return senders[latest].peripheral = nil
        }
        if entries.count >= Self.limit { forgetAll() }
        latest = entries.count
        places.insert(key, at: entries.count)
        entries.append(entry)
        senders.append(Sender())
    }
}

extension SeenAdvertisements {
    /// Tells the time to the millisecond, by one number for all that is seen in it.
    private struct Clock {
        private var time = 0.0
        private var number = NSNumber(value: 0.0)

        mutating func now() -> NSNumber {
            let now = Date().timeIntervalSinceReferenceDate
            if abs(now - time) >= 0.001 { (time, number) = (now, NSNumber(value: now)) }
            return number
        }
    }
}

extension SeenAdvertisements.Entry {
    init?(_ report: AdvertisementReport, _ dictionary: [String: Any], for scan: ScanRequest) {
        guard let timestamp = dictionary.index(forKey: AdvertisementReport.timestampKey) else { return nil }
        self.report = report
        self.dictionary = dictionary
        self.timestamp = timestamp
        // They may be an overflow area, which says something to those who look for services.
        if scan.services.isEmpty, let place = dictionary.index(forKey: CBAdvertisementDataManufacturerDataKey),
            let octets = report.octets.manufacturerRange
        {
            manufacturer = (octets, place)
        } else {
            manufacturer = nil
        }
    }

    enum OnUpdate {
        /// It says the same, or the same but for the data of the manufacturer.
        case same
        /// It does, but the device is called otherwise.
        case renamed
        case other
    }

    /// Takes a report, unless it is another one.
    mutating func update(_ new: AdvertisementReport, for scan: ScanRequest) -> OnUpdate {
        if new.repeats(report) { return .same }
        guard new.peer.rawValue == report.peer.rawValue, new.isConnectable == report.isConnectable else {
            return .other
        }
        let octets = new.octets, before = report.octets
        if octets != before {
            guard let manufacturer, octets.advertisementLength == before.advertisementLength,
                octets.all.equals(before.all, exceptIn: manufacturer.octets)
            else { return .other }
            dictionary.values[manufacturer.place] = Data(octets: octets.all[manufacturer.octets])
        }
        defer { report = new }
        return new.name == report.name ? .same : .renamed
    }
}

extension [UInt8] {
    /// Whether `other` has as many octets, and the same but for those in `range`.
    fileprivate func equals(_ other: Self, exceptIn range: Range<Int>) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { new in
            other.withUnsafeBytes { old in
                new[..<range.lowerBound].elementsEqual(old[..<range.lowerBound])
                    && new[range.upperBound...].elementsEqual(old[range.upperBound...])
            }
        }
    }
}
