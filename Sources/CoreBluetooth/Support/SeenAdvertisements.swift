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
        /// What the app looks for, which says what is told of the overflow area.
        let scan: ScanRequest
        var dictionary: [String: Any]
        let timestamp: Dictionary<String, Any>.Index
        let manufacturerData: Dictionary<String, Any>.Index?
    }

    private var places: [PeerIdentifier: Int] = [:]
    private var entries: [Entry] = []

    /// The advertisement as an app sees it that scans with `scan`, with the time at which it is seen; `nil` if it was
    /// found for an earlier scan, which looked for something else.
    mutating func dictionary(of report: AdvertisementReport, for scan: ScanRequest) -> [String: Any]? {
        let timestamp = NSNumber(value: Date().timeIntervalSinceReferenceDate)
        let place = places[report.peer]
        if let place, entries[place].scan == scan, entries[place].update(report) {
            // In place, so that nothing is copied unless the app has kept the last one.
            entries[place].dictionary.values[entries[place].timestamp] = timestamp
            return entries[place].dictionary
        }
        guard var dictionary = report.dictionary(for: scan) else { return nil }
        dictionary[AdvertisementReport.timestampKey] = timestamp
        guard let index = dictionary.index(forKey: AdvertisementReport.timestampKey) else { return dictionary }
        let entry = Entry(
            report: report,
            scan: scan,
            dictionary: dictionary,
            timestamp: index,
            manufacturerData: dictionary.index(forKey: CBAdvertisementDataManufacturerDataKey)
        )
        insert(entry, at: place)
        return dictionary
    }

    private mutating func insert(_ entry: Entry, at place: Int?) {
        if let place { return entries[place] = entry }
        if entries.count >= Self.limit { self = Self() }
        places[entry.report.peer] = entries.count
        entries.append(entry)
    }
}

extension SeenAdvertisements.Entry {
    /// Takes a report that says the same, or the same but for the data of the manufacturer; `false` for any other.
    ///
    /// The data of the manufacturer may be an overflow area, which says something to those who look for services.
    mutating func update(_ new: AdvertisementReport) -> Bool {
        defer { report = new }
        if new.repeats(report) { return true }
        guard new.isConnectable == report.isConnectable else { return false }
        if new.data == report.data { return true }
        guard scan.services.isEmpty, let manufacturerData, let range = new.manufacturerRange(ifElseEqualTo: report)
        else {
            return false
        }
        dictionary.values[manufacturerData] = Data(new.data[range])
        return true
    }
}

extension AdvertisementReport {
    /// Where the data of the manufacturer lie, if they alone are not those of `other`.
    fileprivate func manufacturerRange(ifElseEqualTo other: Self) -> Range<Int>? {
        let new = data, old = other.data
        guard new.count == old.count, let range = AdvertisingData.manufacturerRange(in: new.span),
            AdvertisingData.manufacturerRange(in: old.span) == range,
            new[..<range.lowerBound] == old[..<range.lowerBound],
            new[range.upperBound...] == old[range.upperBound...]
        else { return nil }
        return range
    }
}
