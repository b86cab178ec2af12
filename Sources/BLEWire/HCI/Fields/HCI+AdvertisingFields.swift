extension HCI {
    /// The kind of address that the controller uses as its own.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.5 and 7.8.10.
    package enum OwnAddress: UInt8, WireField, CustomStringConvertible {
        case `public` = 0
        case random = 1
        /// A private address that the controller generates with the local IRK from the peer's entry in the resolving
        /// list; the public address if the list has no such entry.
        case resolvableOrPublic = 2
        /// A private address that the controller generates with the local IRK from the peer's entry in the resolving
        /// list; the random address if the list has no such entry.
        case resolvableOrRandom = 3

        package var description: String {
            switch self {
            case .public: "public"
            case .random: "random"
            case .resolvableOrPublic: "resolvable or public"
            case .resolvableOrRandom: "resolvable or random"
            }
        }
    }

    /// The type of legacy advertising, which decides the requests that other devices may send.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.5.
    package enum AdvertisingType: UInt8, WireField, CustomStringConvertible {
        /// Any device may connect or send scan requests.
        case connectable = 0
        /// Only one peer may connect. The controller advertises very often, for at most 1.28 s.
        case directedHighDutyCycle = 1
        /// Any device may send scan requests, but not connect.
        case scannable = 2
        /// No device may connect or send scan requests.
        case nonConnectable = 3
        /// Only one peer may connect. The controller advertises at the interval that the host has set.
        case directedLowDutyCycle = 4

        package var description: String {
            switch self {
            case .connectable: "ADV_IND"
            case .directedHighDutyCycle: "ADV_DIRECT_IND (high duty cycle)"
            case .scannable: "ADV_SCAN_IND"
            case .nonConnectable: "ADV_NONCONN_IND"
            case .directedLowDutyCycle: "ADV_DIRECT_IND (low duty cycle)"
            }
        }
    }

    /// The devices whose requests an advertiser accepts.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.5.
    package enum AdvertisingFilterPolicy: UInt8, WireField, CustomStringConvertible {
        case everyone = 0
        /// Any device may connect; only devices on the accept list may send scan requests.
        case scansFromAcceptList = 1
        /// Any device may send scan requests; only devices on the accept list may connect.
        case connectionsFromAcceptList = 2
        case acceptList = 3

        package var description: String {
            switch self {
            case .everyone: "everyone"
            case .scansFromAcceptList: "scan requests only from the accept list"
            case .connectionsFromAcceptList: "connections only from the accept list"
            case .acceptList: "accept list"
            }
        }
    }

    /// The primary channels that an advertiser uses, at least one of the three.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.5.
    package struct AdvertisingChannels: WireField, Hashable, CustomStringConvertible {
        package let wire: UInt8

        /// Creates a set of channels; returns `nil` if the set is empty or contains unknown channels.
        package init?(wire: UInt8) {
            guard 1...7 ~= wire else { return nil }
            self.wire = wire
        }

        private init(valid wire: UInt8) { self.wire = wire }

        package static let all = Self(valid: 7)

        /// Returns whether the advertiser uses a primary channel (37, 38 or 39); false for any other number.
        package func contains(channel: Int) -> Bool { 37...39 ~= channel && wire >> UInt8(channel - 37) & 1 == 1 }

        package var description: String { (37...39).filter(contains).map(String.init).joined(separator: ", ") }
    }

    /// The properties of an advertising set: the requests that other devices may send, and the form of the packets.
    ///
    /// Unknown bits are kept.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.53.
    package struct AdvertisingProperties: OptionSet, WireField, Hashable, CustomStringConvertible {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }
        package init(wire: UInt16) { rawValue = wire }
        package var wire: UInt16 { rawValue }

        package static let connectable = Self(rawValue: 1 << 0)
        package static let scannable = Self(rawValue: 1 << 1)
        package static let directed = Self(rawValue: 1 << 2)
        package static let highDutyCycle = Self(rawValue: 1 << 3)
        /// The set uses legacy packets, which devices without extended advertising can receive.
        package static let legacy = Self(rawValue: 1 << 4)
        package static let anonymous = Self(rawValue: 1 << 5)
        package static let includesTransmitPower = Self(rawValue: 1 << 6)

        package var description: String {
            names(of: [
                "connectable", "scannable", "directed", "high duty cycle", "legacy", "anonymous", "TX power",
            ])
        }
    }

    /// The part of an advertising set's data that a command contains.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.54.
    package enum DataOperation: UInt8, WireField, CustomStringConvertible {
        case intermediate = 0
        case first = 1
        case last = 2
        case complete = 3
        /// No part: the data stays the same, and only its identifier changes.
        case unchanged = 4

        package var description: String {
            switch self {
            case .intermediate: "intermediate fragment"
            case .first: "first fragment"
            case .last: "last fragment"
            case .complete: "complete data"
            case .unchanged: "unchanged data"
            }
        }
    }

    /// The host's preference on whether the controller splits the data of an advertising set into several packets.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.54.
    package enum FragmentPreference: UInt8, WireField, CustomStringConvertible {
        case mayFragment = 0
        case shouldNotFragment = 1

        package var description: String {
            switch self {
            case .mayFragment: "may fragment"
            case .shouldNotFragment: "should not fragment"
            }
        }
    }
}
