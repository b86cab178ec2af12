package import BLEWire

/// The parts of a controller's report for which known quirks exist.
package struct ControllerReport: Equatable, Sendable {
    package var commands: SupportedCommands
    package var features: LEFeatures
    /// The public address that the controller reports.
    package var address: DeviceAddress
    /// The number of ACL buffers.
    package var buffers: Int
    /// True if the ACL buffers are shared with BR/EDR.
    package var sharesBuffers: Bool

    package init(
        commands: SupportedCommands,
        features: LEFeatures,
        address: DeviceAddress,
        buffers: Int,
        sharesBuffers: Bool
    ) {
        self.commands = commands
        self.features = features
        self.address = address
        self.buffers = buffers
        self.sharesBuffers = sharesBuffers
    }
}

/// A known deviation of real controllers from the specification.
package enum ControllerQuirk: String, CaseIterable, Sendable {
    case noExtendedAdvertising = "no-extended-advertising"
    case extendedOnly = "extended-only"
    case fewBuffers = "few-buffers"
    case sharedBuffers = "shared-buffers"
    case noBufferSizeV2 = "no-buffer-size-v2"
    case featureWithoutCommands = "feature-without-commands"
    case commandsWithoutFeature = "commands-without-feature"
    case noResolvingList = "no-resolving-list"
    case noPublicAddress = "no-public-address"
    /// The controller rejects a command that it lists as supported. No report shows this quirk, ``silentFilter`` or
    /// ``unexpectedHandle``, so the host detects them when they occur.
    case unknownCommand = "unknown-command"
    case silentFilter = "deaf-filter"
    case unexpectedHandle = "strange-handle"

    /// A row in the table of quirks.
    package struct TableRow: Sendable {
        package let quirk: ControllerQuirk
        /// The report or behaviour of the controller that shows the quirk.
        package let sign: String
        /// The countermeasure that the host takes.
        package let measure: String
        package let reason: String
        /// A function that returns whether a report shows the quirk; `nil` if no report can show it.
        let matches: (@Sendable (ControllerReport) -> Bool)?
    }

    /// The row of this quirk.
    package var row: TableRow {
        switch self {
        case .noExtendedAdvertising:
            TableRow(
                quirk: self,
                sign: "no LE Extended Advertising, or only some of its commands",
                measure: "uses only legacy commands, with advertisements of 31 octets and without Coded PHY",
                reason: "controllers reject a mix of both command sets",
                matches: { !ControllerQuirks($0).usesExtendedCommands }
            )
        case .extendedOnly:
            TableRow(
                quirk: self,
                sign: "commands for extended advertising, but not the legacy ones",
                measure: "uses the extended ones, regardless of the feature bit",
                reason: "firmware built without legacy commands would be unusable otherwise",
                matches: { ControllerQuirks($0).isExtendedOnly }
            )
        case .fewBuffers:
            TableRow(
                quirk: self,
                sign: "fewer than three ACL data buffers",
                measure: "lets links take turns, and keeps waiting packets itself",
                reason: "otherwise one slow link would block all others",
                matches: { $0.buffers > 0 && $0.buffers < 3 }
            )
        case .sharedBuffers:
            TableRow(
                quirk: self,
                sign: "no separate LE buffers (LE Read Buffer Size reports none)",
                measure: "uses all buffers that Read Buffer Size reports",
                reason: "controllers may use one pool of buffers for BR/EDR and LE (Vol 4, Part E, 7.8.2)",
                matches: { $0.sharesBuffers }
            )
        case .noBufferSizeV2:
            TableRow(
                quirk: self,
                sign: "no LE Read Buffer Size v2",
                measure: "uses v1, as for all controllers",
                reason: "v2 adds only buffers for isochronous data, which this host does not send",
                matches: { !$0.commands.contains(.leReadBufferSizeV2) }
            )
        case .featureWithoutCommands:
            TableRow(
                quirk: self,
                sign: "a feature without the commands it needs",
                measure: "does not use the feature",
                reason: "feature bits are often copied from a larger controller",
                matches: { ControllerQuirks($0).features != $0.features }
            )
        case .commandsWithoutFeature:
            TableRow(
                quirk: self,
                sign: "commands of a feature without its feature bit",
                measure: "does not use the feature, except extended advertising (extended-only)",
                reason: "the peer sees only the bit, and would refuse or misunderstand the feature",
                matches: { !ControllerQuirks($0).unclaimed.isEmpty }
            )
        case .noResolvingList:
            TableRow(
                quirk: self,
                sign: "no LL Privacy, no resolving list, or no way to set the privacy mode",
                measure: "generates and resolves private addresses itself",
                reason: "without Set Privacy Mode, the list blocks bonded peers that use their identity address",
                matches: { !ControllerQuirks($0).resolvesAddresses }
            )
        case .noPublicAddress:
            TableRow(
                quirk: self,
                sign: "a public address of all zeros or all ones",
                measure: "sets a random static address, the same each time",
                reason: "boards and adapters without a stored address report this, and would all have the same address",
                matches: { !$0.address.isAssigned }
            )
        case .unknownCommand:
            TableRow(
                quirk: self,
                sign: "Unknown HCI Command in response to a command that the controller claims to support",
                measure: "does not send the command again; if it is an extended one, uses only legacy commands",
                reason: "the bits of supported commands are not always right",
                matches: nil
            )
        case .silentFilter:
            TableRow(
                quirk: self,
                sign: "no reports for 20 s with the duplicate filter, but some without it; or an error when it is set",
                measure: "turns the filter off, and drops duplicates itself",
                reason: "a filter whose memory is full drops everything or nothing",
                matches: nil
            )
        case .unexpectedHandle:
            TableRow(
                quirk: self,
                sign: "events and data of a connection that does not exist",
                measure: "logs and ignores them, except data of a connection that is announced within 10 ms",
                reason: "some controllers send packets after a disconnection, or use an unannounced connection",
                matches: nil
            )
        }
    }
}

/// The known quirks of a controller, and the features and commands that the host uses despite them.
///
/// They follow from what the controller reports about itself. Only this type decides which parts of that report the
/// host relies on.
package struct ControllerQuirks: Equatable, Sendable {
    private let report: ControllerReport

    package init(_ report: ControllerReport) { self.report = report }

    /// The quirks that the report shows, in the order of the table.
    package var found: [ControllerQuirk] { ControllerQuirk.allCases.filter { $0.row.matches?(report) ?? false } }

    /// Returns the end of a sentence that begins with the controller: how the quirk shows, and what the host does about
    /// it.
    package func explanation(of quirk: ControllerQuirk) -> String {
        switch quirk {
        case .featureWithoutCommands:
            let unusable = report.features.subtracting(features)
            return unusable.rawValue.nonzeroBitCount == 1
                ? "reports the feature \(unusable), but not the commands it needs: the host does not use the feature"
                : "reports the features \(unusable), but not the commands they need: the host does not use the features"
        case .commandsWithoutFeature:
            return unclaimed.rawValue.nonzeroBitCount == 1
                ? "supports the commands of \(unclaimed), but does not report the feature: the host does not use it"
                : "supports the commands of \(unclaimed), but does not report the features: the host does not use them"
        default: return "has \(quirk.row.sign): the host \(quirk.row.measure)"
        }
    }

    /// The features that the controller does not report, although it supports their commands.
    fileprivate var unclaimed: LEFeatures {
        Self.needed.reduce(LEFeatures()) { features, entry in
            entry.commands.allSatisfy(report.commands.contains) ? features.union(entry.feature) : features
        }
        .subtracting(report.features)
    }

    /// The extended commands that this host requires.
    static let extendedCommands: [HCI.Opcode] = [
        .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
        .leSetExtendedAdvertisingEnable, .leSetAdvertisingSetRandomAddress, .leSetExtendedScanParameters,
        .leSetExtendedScanEnable, .leExtendedCreateConnection,
    ]

    /// The legacy commands that the extended commands replace.
    private static let legacyCommands: [HCI.Opcode] = [
        .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetAdvertisingEnable, .leSetScanParameters,
        .leSetScanEnable, .leCreateConnection,
    ]

    /// The features that the host can use only with certain commands, and those commands.
    static let needed: [(feature: LEFeatures, commands: [HCI.Opcode])] = [
        (.encryption, [.leEnableEncryption, .leLongTermKeyRequestReply]),
        (
            .connectionParametersRequest,
            [.leRemoteConnectionParameterRequestReply, .leRemoteConnectionParameterRequestNegativeReply]
        ),
        (.dataPacketLengthExtension, [.leSetDataLength]),
        (.privacy, [.leClearResolvingList]),
        (.phy2M, [.leSetPHY]),
    ]

    /// The features that the host may use: those that the controller reports, unless it lacks the commands that they
    /// need.
    ///
    /// If the controller lists no commands at all, the host assumes that it does not report commands, and relies on all
    /// its feature bits.
    var features: LEFeatures {
        guard report.commands != SupportedCommands() else { return report.features }
        return Self.needed.reduce(report.features) { features, entry in
            entry.commands.allSatisfy(report.commands.contains) ? features : features.subtracting(entry.feature)
        }
    }

    /// True if the controller supports all extended commands that this host needs, and no legacy equivalent.
    var isExtendedOnly: Bool {
        Self.extendedCommands.allSatisfy(report.commands.contains)
            && !Self.legacyCommands.contains(where: report.commands.contains)
    }

    /// True if the host uses extended commands.
    ///
    /// The host then uses no legacy commands that have an extended equivalent, because controllers reject a mix of
    /// both.
    ///
    /// Core 6.0, Vol 4, Part E, 3.1.1.
    var usesExtendedCommands: Bool {
        report.features.contains(.extendedAdvertising)
            ? Self.extendedCommands.allSatisfy(report.commands.contains) : isExtendedOnly
    }

    /// True if the controller can resolve private addresses and supports the device privacy mode.
    ///
    /// Without that mode, the controller would ignore a peer that has distributed an IRK but uses its identity address.
    var resolvesAddresses: Bool {
        let needed: [HCI.Opcode] = [
            .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList, .leClearResolvingList,
            .leSetAddressResolutionEnable, .leSetResolvablePrivateAddressTimeout, .leSetPrivacyMode,
        ]
        return report.features.contains(.privacy) && needed.allSatisfy(report.commands.contains)
    }
}

extension DeviceAddress {
    /// True for an assigned address.
    ///
    /// Unassigned addresses, which come from unwritten memory, are all zeros or all ones.
    var isAssigned: Bool { value != 0 && value != 0xFFFF_FFFF_FFFF }
}
