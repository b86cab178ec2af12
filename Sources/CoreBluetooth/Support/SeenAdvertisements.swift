import BLEHost
import BLEWire
import Foundation

/// What an app was told of advertisements, by peer: devices say the same again and again.
///
/// When there are too many all are forgotten, and made anew from what comes.
struct SeenAdvertisements {
    /// For how many peers this is kept.
    static let limit = 1_024

    private struct Entry {
        let data: [UInt8]
        let isConnectable: Bool
        /// The services that the app looks for, which say what is told of the overflow area.
        let services: [BluetoothUUID]
        var dictionary: [String: Any]
    }

    private var entries: [PeerIdentifier: Entry] = [:]

    /// The advertisement as an app sees it that scans with `scan`, with the time at which it is seen.
    mutating func dictionary(of report: AdvertisementReport, for scan: ScanRequest) -> [String: Any] {
        let timestamp = NSNumber(value: Date().timeIntervalSinceReferenceDate)
        if let entry = entries[report.peer], entry.data == report.data, entry.isConnectable == report.isConnectable,
            entry.services == scan.services
        {
            // In place, so that nothing is copied unless the app has kept the last one.
            entries[report.peer]?.dictionary[AdvertisementReport.timestampKey] = timestamp
            return entries[report.peer]?.dictionary ?? [:]
        }
        if entries.count >= Self.limit { entries.removeAll() }
        var dictionary = report.dictionary(for: scan)
        dictionary[AdvertisementReport.timestampKey] = timestamp
        entries[report.peer] = Entry(
            data: report.data,
            isConnectable: report.isConnectable,
            services: scan.services,
            dictionary: dictionary
        )
        return dictionary
    }
}
