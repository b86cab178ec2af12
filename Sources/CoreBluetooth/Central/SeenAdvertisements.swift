import BLEHost
import BLEWire
import Foundation

/// A cache of the last advertisement of each peer, with the dictionary that the app received for it.
///
/// Devices repeat their advertisements, so most advertisements need not be converted again.
///
/// When the cache is full, all entries are dropped; new advertisements fill it again.
struct SeenAdvertisements {
    /// The maximum number of peers.
    static let limit = 1_024

    fileprivate struct Entry {
        var report: AdvertisementReport
        var dictionary: [String: Any]
        let timestamp: Dictionary<String, Any>.Index
        /// The positions of the manufacturer data in the octets and in the dictionary; `nil` if the data cannot be
        /// replaced in place.
        let manufacturer: (octets: Range<Int>, place: Dictionary<String, Any>.Index)?
    }

    /// A weak reference to a peer's object.
    ///
    /// Its getter is `mutating`, so that an element of an array is used in place and not copied.
    private struct Sender {
        private weak var object: CBPeripheral?
        var peripheral: CBPeripheral? {
            mutating get { object }
            set { object = newValue }
        }
    }

    /// The current scan, which determines the services that are reported from the overflow area.
    private var scan = ScanRequest()
    /// The hash index of the entries.
    ///
    /// A peer's key is the lower half of its identifier, with the most significant bit set to 1. The other bits are
    /// random, so the index needs no secret.
    private var indices = HashIndex(secret: 0)
    private var entries: [Entry] = []
    /// The objects of the peers, in the order of the entries.
    ///
    /// An element's reference is `nil` if the app does not retain the object, or if the object's name is out of date.
    private var senders: [Sender] = []
    /// The index of the entry for the last received advertisement; `nil` if the cache does not contain that
    /// advertisement.
    private var latest: Int?
    private var clock = Clock()

    /// The object for the sender of the last advertisement.
    ///
    /// It is `nil` if the advertisement is not in the cache, the app no longer retains the object, or the object's name
    /// is out of date.
    var sender: CBPeripheral? {
        mutating get {
            guard let latest else { return nil }
            return senders[latest].peripheral
        }
        set { if let latest { senders[latest].peripheral = newValue } }
    }

    /// Starts another scan.
    ///
    /// If the parameters differ from those of the last scan, the cache is emptied.
    mutating func begin(_ scan: ScanRequest) {
        guard scan != self.scan else { return }
        self.scan = scan
        forgetAll()
    }

    /// Drops all entries, but keeps the parameters of the scan.
    mutating func forgetAll() {
        indices = HashIndex(secret: 0)
        entries = []
        senders = []
        latest = nil
    }

    /// Returns the advertisement data for the scanning app, with the time of reception; `nil` if the advertisement was
    /// found for an earlier scan with other services.
    mutating func dictionary(of report: AdvertisementReport) -> [String: Any]? {
        let key = UInt64(truncatingIfNeeded: report.peer.rawValue) | 1 << 63, timestamp = clock.now()
        latest = indices.index(of: key)
        if let latest, update(latest, report) {
            // Changed in place, so that nothing is copied unless the app has kept the previous dictionary.
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

    /// Updates the entry at the index `place` if only the manufacturer data or the name differs from the last report;
    /// returns `false` if anything else in the advertisement differs.
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
        indices.insert(key, at: entries.count)
        entries.append(entry)
        senders.append(Sender())
    }
}

extension SeenAdvertisements {
    /// A clock with millisecond resolution, which creates at most one number object per millisecond.
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
        // If the app scans for services, the manufacturer data may be an overflow area, which changes the reported
        // services.
        if scan.services.isEmpty, let place = dictionary.index(forKey: CBAdvertisementDataManufacturerDataKey),
            let octets = report.octets.manufacturerRange
        {
            manufacturer = (octets, place)
        } else {
            manufacturer = nil
        }
    }

    enum OnUpdate {
        /// The data is the same, except perhaps for the manufacturer data.
        case same
        /// The data is the same, except perhaps for the manufacturer data, but the device has another name.
        case renamed
        case other
    }

    /// Updates the entry if only the manufacturer data or the name differs from the last report; returns what has
    /// changed.
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
