extension HCI {
    /// Sets the parameters of legacy scanning.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.10.
    package struct LESetScanParameters: HCICommand {
        package static var opcode: Opcode { .leSetScanParameters }
        package typealias Return = StatusReturn

        package var type = ScanType.passive
        package var interval = ScanInterval.standard
        package var window = ScanInterval.standard
        package var ownAddress = OwnAddress.public
        package var policy = ScanFilterPolicy.everyone

        package init() {}
        package init(
            type: ScanType,
            interval: ScanInterval,
            window: ScanInterval,
            ownAddress: OwnAddress = .public,
            policy: ScanFilterPolicy = .everyone
        ) {
            self.type = type
            self.interval = interval
            self.window = window
            self.ownAddress = ownAddress
            self.policy = policy
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&type, "LE Scan Type")
            try wire.field(&interval, "LE Scan Interval")
            try wire.field(&window, "LE Scan Window")
            try wire.field(&ownAddress, "Own Address Type")
            try wire.field(&policy, "Scanning Filter Policy")
        }
    }

    /// Starts or stops legacy scanning.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.11.
    package struct LESetScanEnable: HCICommand {
        package static var opcode: Opcode { .leSetScanEnable }
        package typealias Return = StatusReturn

        package var enable = false
        package var filterDuplicates = false

        package init() {}
        package init(enable: Bool, filterDuplicates: Bool = false) {
            self.enable = enable
            self.filterDuplicates = filterDuplicates
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.flag(&enable, "LE Scan Enable")
            try wire.flag(&filterDuplicates, "Filter Duplicates")
        }
    }

    /// Starts or stops extended scanning.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.65.
    package struct LESetExtendedScanEnable: HCICommand {
        package static var opcode: Opcode { .leSetExtendedScanEnable }
        package typealias Return = StatusReturn

        package var enable = false
        package var filterDuplicates = DuplicateFilter.off
        package var duration = EnableDuration.unlimited
        package var period = ScanPeriod.none

        package init() {}
        package init(
            enable: Bool,
            filterDuplicates: DuplicateFilter = .off,
            duration: EnableDuration = .unlimited,
            period: ScanPeriod = .none
        ) {
            self.enable = enable
            self.filterDuplicates = filterDuplicates
            self.duration = duration
            self.period = period
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.flag(&enable, "Enable")
            try wire.field(&filterDuplicates, "Filter Duplicates")
            try wire.field(&duration, "Duration")
            try wire.field(&period, "Period")
        }
    }
}
