import BLEHost
import BLEWire
import Foundation

/// A cache of the advertisements that an app received, by peer, because devices repeat themselves.
///
/// When it is full, all entries are dropped and rebuilt from new advertisements.
struct SeenAdvertisements {
    /// The maximum number of peers.
    static let limit = 1_024

    fileprivate struct Entry {
        var report: AdvertisementReport
        var dictionary: [String: Any]
        let timestamp: Dictionary<String, Any>.Index
        /// The position of the manufacturer data in the octets and in the dictionary, if they can be replaced.
        let manufacturer: (octets: Range<Int>, place: Dictionary<String, Any>.Index)?
    }

    /// A weakly referenced object, `mutating` to be updated in place.
    private struct Sender {
        private weak var object: CBPeripheral?
        var peripheral: CBPeripheral? {
            mutating get { object }
            set { object = newValue }
        }
    }

    /// The current scan, which determines the reported services of the overflow area.
    private var scan = ScanRequest()
    /// An index by the lower half of the identifier, which is random except for its first bit.
    private var places = HashIndex(secret: 0)
    private var entries: [Entry] = []
    /// The peers' objects, while the app retains them and their names are current.
    private var senders: [Sender] = []
    /// The index of the last received peer.
    private var latest: Int?
    private var clock = Clock()

    /// The object of the last received peer, if it was received before and is still retained.
    var sender: CBPeripheral? {
        mutating get {
            guard let latest else { return nil }
            return senders[latest].peripheral
        }
        set { if let latest { senders[latest].peripheral = newValue } }
    }

    /// Starts another scan.
    mutating func begin(_ scan: ScanRequest) {
        guard scan != self.scan else { return }
        self.scan = scan
        forgetAll()
    }

    /// Drops all entries, but not the scan.
    mutating func forgetAll() {
        places = HashIndex(secret: 0)
        entries = []
        senders = []
        latest = nil
    }

    /// Returns the advertisement as a scanning app receives it, with the time; `nil` if it was found for an earlier
    /// scan with other services.
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

    /// Processes a report that is mostly the same as before; returns `false` for other reports.
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
    /// A clock with millisecond resolution and one number object per millisecond.
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
        /// The same data, possibly with other manufacturer data.
        case same
        /// The same data, but the device has another name.
        case renamed
        case other
    }

    /// Processes a report if it is similar to the last one.
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
    /// Returns whether `other` has the same length and the same octets outside of `range`.
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
