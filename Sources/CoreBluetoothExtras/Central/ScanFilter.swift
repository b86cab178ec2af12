import BLEHost
public import CoreBluetooth

/// A filter of advertisements that the host applies before it wakes the app.
public struct ScanFilter {
    /// The device must advertise at least one of these services; any device matches if empty.
    public var services: [CBUUID]
    /// The minimum signal strength in dBm, such as −70; `nil` for no minimum.
    public var minimumRSSI: Int?
    /// The beginning of the advertised name; `nil` for any name or none.
    public var namePrefix: String?
    /// True if to report every advertisement, instead of each device once.
    public var allowsDuplicates: Bool

    /// Creates a filter.
    ///
    /// Without arguments, it matches each device once.
    public init(
        services: [CBUUID] = [],
        minimumRSSI: Int? = nil,
        namePrefix: String? = nil,
        allowsDuplicates: Bool = false
    ) {
        self.services = services
        self.minimumRSSI = minimumRSSI
        self.namePrefix = namePrefix
        self.allowsDuplicates = allowsDuplicates
    }

    var request: ScanRequest {
        ScanRequest(
            services: services.map(\.hostValue),
            allowsDuplicates: allowsDuplicates,
            minimumRSSI: minimumRSSI.map { Int8(clamping: $0) },
            namePrefix: namePrefix
        )
    }
}

/// A discovered device.
public struct Discovery: Sendable {
    /// The peripheral to connect to.
    public let peripheral: CBPeripheral
    /// The received advertisement.
    public let advertisement: Advertisement
}
