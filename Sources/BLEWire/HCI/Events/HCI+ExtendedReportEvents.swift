extension HCI {
    /// A report about received advertisements and scan responses, legacy or extended.
    ///
    /// Long data arrives in several reports; ``EventType/dataStatus`` says whether more data follows.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.65.13.
    package struct LEExtendedAdvertisingReport: HCILEEvent {
        package static var subevent: LESubevent { .extendedAdvertisingReport }

        package var reports: [Report] = []

        package init() {}
        package init(reports: [Report]) {
            self.reports = reports
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.list(&reports, upTo: 10, "Num Reports")
        }
    }
}
