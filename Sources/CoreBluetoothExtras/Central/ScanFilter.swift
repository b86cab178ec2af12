import BLEHost
public import CoreBluetooth

/// A filter for advertisements, which the host applies before it wakes the app.
public struct ScanFilter {
    /// The services to scan for: the device must advertise at least one of them.
    ///
    /// If empty, any device matches.
    public var services: [CBUUID]
    /// The minimum signal strength in dBm, such as −70; `nil` for no minimum.
    public var minimumRSSI: Int?
    /// The prefix that the advertised name must have; `nil` to match any device, even one without a name.
    public var namePrefix: String?
    /// True to report every advertisement; `false` to report each device once.
    public var allowsDuplicates: Bool

    /// Creates a filter.
    ///
    /// Without arguments, the filter reports every device once.
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
