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
        /// The object that stands for the peer, as long as the app keeps it and the name is the one that it knows.
        weak var peripheral: CBPeripheral?
    }

    /// What the app looks for, which says what is told of the overflow area.
    private var scan = ScanRequest()
    /// By the lower half of the identifier, which is random.
    private var places: [UInt64: Int] = [:]
    private var entries: [Entry] = []
    /// The one that was heard last.
    private var latest: Int?
    private var clock = Clock()

    /// The object that stands for the one that was heard last, if it was heard before and is still kept.
    var sender: CBPeripheral? {
        get { latest.flatMap { entries[$0].peripheral } }
        set { if let latest { entries[latest].peripheral = newValue } }
    }

    /// The advertisement as an app sees it that scans with `scan`, with the time at which it is seen; `nil` if it was
    /// found for an earlier scan, which looked for something else.
    mutating func dictionary(of report: AdvertisementReport, for scan: ScanRequest) -> [String: Any]? {
        if scan != self.scan {
            self = Self()
            self.scan = scan
        }
        let key = UInt64(truncatingIfNeeded: report.peer.rawValue), timestamp = clock.now()
        latest = places[key]
        if let latest, entries[latest].update(report, for: scan) {
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

    private mutating func insert(_ entry: Entry, for key: UInt64) {
        if let latest { return entries[latest] = entry }
        if entries.count >= Self.limit {
            places = [:]
            entries = []
        }
        latest = entries.count
        places[key] = entries.count
        entries.append(entry)
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
            let octets = AdvertisingData.manufacturerRange(in: report.data.span)
        {
            manufacturer = (octets, place)
        } else {
            manufacturer = nil
        }
    }

    /// Takes a report that says the same, or the same but for the data of the manufacturer; `false` for any other.
    mutating func update(_ new: AdvertisementReport, for scan: ScanRequest) -> Bool {
        if new.repeats(report) {
            report = new
            return true
        }
        guard new.peer.rawValue == report.peer.rawValue, new.isConnectable == report.isConnectable else { return false }
        let octets = new.data
        if octets != report.data {
            guard let manufacturer, octets.equals(report.data, exceptIn: manufacturer.octets) else { return false }
            dictionary.values[manufacturer.place] = Data(octets: octets[manufacturer.octets])
        }
        if new.name != report.name { peripheral = nil }
        report = new
        return true
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
