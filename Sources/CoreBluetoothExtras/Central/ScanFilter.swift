import BLEHost
public import CoreBluetooth

/// Which advertisements a scan tells of, decided by the host before an app is woken.
public struct ScanFilter {
    /// Services of which a device must advertise at least one; every device if empty.
    public var services: [CBUUID]
    /// The weakest signal that is worth a report, in dBm, such as -70; every one if `nil`.
    public var minimumRSSI: Int?
    /// What the advertised name must begin with; any name, or none, if `nil`.
    public var namePrefix: String?
    /// Whether to tell of every advertisement, instead of each device once.
    public var allowsDuplicates: Bool

    /// Creates a filter; without arguments, it lets each device through once.
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

/// A device that a scan has found.
public struct Discovery: Sendable {
    /// The object by which to connect.
    public let peripheral: CBPeripheral
    /// The advertisement as it came.
    public let advertisement: Advertisement
}
