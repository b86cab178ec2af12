/// The features of an LE controller, one bit each; unknown bits are kept.
///
/// Core 6.0, Vol 6, Part B, 4.6.
package struct LEFeatures: OptionSet, WireField, Hashable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package init(wire: UInt64) { rawValue = wire }
    package var wire: UInt64 { rawValue }

    package static let encryption = Self(rawValue: 1 << 0)
    package static let connectionParametersRequest = Self(rawValue: 1 << 1)
    package static let extendedRejectIndication = Self(rawValue: 1 << 2)
    package static let peripheralInitiatedFeaturesExchange = Self(rawValue: 1 << 3)
    package static let ping = Self(rawValue: 1 << 4)
    package static let dataPacketLengthExtension = Self(rawValue: 1 << 5)
    /// LL Privacy: the controller resolves and generates private addresses.
    package static let privacy = Self(rawValue: 1 << 6)
    package static let extendedScanningFilterPolicies = Self(rawValue: 1 << 7)
    package static let phy2M = Self(rawValue: 1 << 8)
    package static let phyCoded = Self(rawValue: 1 << 11)
    package static let extendedAdvertising = Self(rawValue: 1 << 12)
    package static let periodicAdvertising = Self(rawValue: 1 << 13)
    package static let channelSelectionAlgorithm2 = Self(rawValue: 1 << 14)
    package static let powerClass1 = Self(rawValue: 1 << 15)
    package static let minimumNumberOfUsedChannels = Self(rawValue: 1 << 16)
    package static let sleepClockAccuracyUpdates = Self(rawValue: 1 << 26)
    package static let remotePublicKeyValidation = Self(rawValue: 1 << 27)
    package static let connectedIsochronousStreamHostSupport = Self(rawValue: 1 << 32)
    package static let powerControlRequest = Self(rawValue: 1 << 33)
    package static let connectionSubrating = Self(rawValue: 1 << 37)
    package static let connectionSubratingHostSupport = Self(rawValue: 1 << 38)
    package static let channelClassification = Self(rawValue: 1 << 39)
    package static let extendedFeatureSet = Self(rawValue: 1 << 63)
}

extension LEFeatures: CustomStringConvertible {
    /// The names of the features as in the specification.
    package var description: String { names(of: Self.names) }

    private static let names = [
        "LE Encryption", "Connection Parameters Request", "Extended Reject Indication",
        "Peripheral-initiated Features Exchange", "LE Ping", "LE Data Packet Length Extension", "LL Privacy",
        "Extended Scanning Filter Policies", "LE 2M PHY", "Stable Modulation Index - Transmitter",
        "Stable Modulation Index - Receiver", "LE Coded PHY", "LE Extended Advertising", "LE Periodic Advertising",
        "Channel Selection Algorithm #2", "LE Power Class 1", "Minimum Number of Used Channels",
        "Connection CTE Request", "Connection CTE Response", "Connectionless CTE Transmitter",
        "Connectionless CTE Receiver", "Antenna Switching During CTE Transmission",
        "Antenna Switching During CTE Reception", "Receiving Constant Tone Extensions",
        "Periodic Advertising Sync Transfer - Sender", "Periodic Advertising Sync Transfer - Recipient",
        "Sleep Clock Accuracy Updates", "Remote Public Key Validation", "Connected Isochronous Stream - Central",
        "Connected Isochronous Stream - Peripheral", "Isochronous Broadcaster", "Synchronized Receiver",
        "Connected Isochronous Stream (Host Support)", "LE Power Control Request", "LE Power Control Request",
        "LE Path Loss Monitoring", "Periodic Advertising ADI", "Connection Subrating",
        "Connection Subrating (Host Support)", "Channel Classification", "Advertising Coding Selection",
        "Advertising Coding Selection (Host Support)", "Decision-Based Advertising Filtering",
        "Periodic Advertising with Responses - Advertiser", "Periodic Advertising with Responses - Scanner",
        "Unsegmented Framed Mode", "Channel Sounding", "Channel Sounding (Host Support)",
        "Channel Sounding Tone Quality Indication",
    ]
}
