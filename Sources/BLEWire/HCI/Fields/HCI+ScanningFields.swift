extension HCI {
    /// The type of scanning: without scan requests (passive) or with them (active).
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.10.
    package enum ScanType: UInt8, WireField, CustomStringConvertible {
        case passive = 0
        case active = 1

        package var description: String {
            switch self {
            case .passive: "passive"
            case .active: "active"
            }
        }
    }

    /// The advertisements that a scanner reports.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.10 and 7.8.64.
    package enum ScanFilterPolicy: UInt8, WireField, CustomStringConvertible {
        case everyone = 0
        case acceptList = 1
        /// Like ``everyone``, and also directed advertisements to private addresses that the controller cannot resolve.
        case everyoneAndUnresolved = 2
        /// Like ``acceptList``, and also directed advertisements to private addresses that the controller cannot
        /// resolve.
        case acceptListAndUnresolved = 3

        package var description: String {
            switch self {
            case .everyone: "everyone"
            case .acceptList: "accept list"
            case .everyoneAndUnresolved: "everyone, unresolved targets too"
            case .acceptListAndUnresolved: "accept list, unresolved targets too"
            }
        }
    }

    /// A scanner's treatment of repeated advertisements.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.65.
    package enum DuplicateFilter: UInt8, WireField, CustomStringConvertible {
        case off = 0
        case on = 1
        /// The filter is on, but the controller reports each device again in every scan period.
        case resetEachPeriod = 2

        package var description: String {
            switch self {
            case .off: "off"
            case .on: "on"
            case .resetEachPeriod: "reset each period"
            }
        }
    }
}
