package import BLEWire

/// What a controller said of itself, as far as there are controllers of which more has to be known than that.
package struct ControllerReport: Equatable, Sendable {
    package var commands: SupportedCommands
    package var features: LEFeatures
    /// What it says is its public address.
    package var address: DeviceAddress
    /// How many buffers for ACL data it has, and whether they are those of BR/EDR as well.
    package var buffers: Int
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

/// Something about a real controller that a host must heed, beyond what the specification has it rely on.
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
    /// The rest is noticed when it happens, since controllers do not report it.
    case unknownCommand = "unknown-command"
    case deafFilter = "deaf-filter"
    case strangeHandle = "strange-handle"

    /// One row of the table of quirks.
    package struct Row: Sendable {
        package let quirk: ControllerQuirk
        /// What the controller reports, or does.
        package let sign: String
        /// What the host does then.
        package let measure: String
        package let reason: String
        /// Whether the report tells; `nil` if no report does.
        let isTold: (@Sendable (ControllerReport) -> Bool)?
    }

    /// The row of this quirk.
    package var row: Row {
        switch self {
        case .noExtendedAdvertising:
            Row(
                quirk: self,
                sign: "no LE Extended Advertising, or not all of its commands",
                measure: "uses the older commands for everything: advertisements of 31 octets, no Coded PHY",
                reason: "a controller refuses to mix the two sets of commands",
                isTold: { !ControllerQuirks($0).usesExtendedCommands }
            )
        case .extendedOnly:
            Row(
                quirk: self,
                sign: "the commands of extended advertising, and the older ones not",
                measure: "uses the extended ones, whatever the feature bit says",
                reason: "firmware that is built without the older ones would otherwise be of no use",
                isTold: { ControllerQuirks($0).isExtendedOnly }
            )
        case .fewBuffers:
            Row(
                quirk: self,
                sign: "fewer than three buffers for ACL data",
                measure: "has links take turns with each buffer, and packets of a link wait in the host",
                reason: "one slow link would otherwise hold up all others",
                isTold: { $0.buffers > 0 && $0.buffers < 3 }
            )
        case .sharedBuffers:
            Row(
                quirk: self,
                sign: "LE Read Buffer Size with no buffers",
                measure: "uses those of Read Buffer Size, which it has for itself",
                reason: "controllers for BR/EDR and LE may have one pool (Vol 4, Part E, 7.8.2)",
                isTold: { $0.sharesBuffers }
            )
        case .noBufferSizeV2:
            Row(
                quirk: self,
                sign: "no LE Read Buffer Size v2",
                measure: "asks v1, which it asks of all controllers",
                reason: "v2 adds buffers of isochronous data alone, which this host does not send",
                isTold: { !$0.commands.contains(.leReadBufferSizeV2) }
            )
        case .featureWithoutCommands:
            Row(
                quirk: self,
                sign: "a feature, and not the commands without which it is of no use",
                measure: "does without the feature",
                reason: "bits of features are often those of a larger controller; commands are what is asked for",
                isTold: { ControllerQuirks($0).features != $0.features }
            )
        case .commandsWithoutFeature:
            Row(
                quirk: self,
                sign: "commands of a feature, and not its bit",
                measure: "does without the feature, but for extended advertising (extended-only)",
                reason: "what the other end is told is the bit; it would refuse or misunderstand",
                isTold: { report in
                    ControllerQuirks.needed.contains { feature, commands in
                        !report.features.contains(feature) && commands.allSatisfy(report.commands.contains)
                    }
                }
            )
        case .noResolvingList:
            Row(
                quirk: self,
                sign: "no LL Privacy, no resolving list, or no way to set the mode of privacy",
                measure: "makes and resolves private addresses itself",
                reason: "a list without Set Privacy Mode keeps out peers that gave a key and show their identity",
                isTold: { !ControllerQuirks($0).resolvesAddresses }
            )
        case .noPublicAddress:
            Row(
                quirk: self,
                sign: "a public address of zeros alone, or of ones",
                measure: "gives it a random static address, the same each time",
                reason: "boards and adapters without an address in their memory say so, and would all be the same one",
                isTold: { !$0.address.isGiven }
            )
        case .unknownCommand:
            Row(
                quirk: self,
                sign: "Unknown HCI Command in answer to a command that it claims",
                measure: "does not send it again; sets it up anew with the older commands if it is an extended one",
                reason: "the bits of supported commands are not always true",
                isTold: nil
            )
        case .deafFilter:
            Row(
                quirk: self,
                sign: "nothing heard for 20 s while it drops duplicates, and something without; or it refuses to",
                measure: "has it report everything, and drops duplicates itself",
                reason: "a filter without memory drops all or nothing",
                isTold: nil
            )
        case .strangeHandle:
            Row(
                quirk: self,
                sign: "events and data of a connection that there is not",
                measure: "notes and ignores them",
                reason: "some send what was on its way after the end of a connection, or one that was never announced",
                isTold: nil
            )
        }
    }
}

/// What a host makes of a controller's report: the one place where it is decided what is believed of it.
package struct ControllerQuirks: Equatable, Sendable {
    private let report: ControllerReport

    package init(_ report: ControllerReport) { self.report = report }

    /// The quirks that the report tells of, in the order of the table.
    package var found: [ControllerQuirk] { ControllerQuirk.allCases.filter { $0.row.isTold?(report) ?? false } }

    /// The commands of extended advertising that this host cannot do without.
    static let extendedCommands: [HCI.Opcode] = [
        .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
        .leSetExtendedAdvertisingEnable, .leSetAdvertisingSetRandomAddress, .leSetExtendedScanParameters,
        .leSetExtendedScanEnable, .leExtendedCreateConnection,
    ]

    /// The older commands that do the same.
    private static let legacyCommands: [HCI.Opcode] = [
        .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetAdvertisingEnable, .leSetScanParameters,
        .leSetScanEnable, .leCreateConnection,
    ]

    /// Features that are of no use without commands, and those.
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

    /// The features that are to be relied on: those whose commands the controller knows.
    ///
    /// A controller that lists no commands at all is believed: it does not tell.
    var features: LEFeatures {
        guard report.commands != SupportedCommands() else { return report.features }
        return Self.needed.reduce(report.features) { features, entry in
            entry.commands.allSatisfy(report.commands.contains) ? features : features.subtracting(entry.feature)
        }
    }

    /// Whether all older commands are missing for which there are extended ones.
    var isExtendedOnly: Bool {
        Self.extendedCommands.allSatisfy(report.commands.contains)
            && !Self.legacyCommands.contains(where: report.commands.contains)
    }

    /// Whether to use the commands of extended advertising for everything, since a controller refuses to mix them with
    /// the older ones.
    ///
    /// Core 6.0, Vol 4, Part E, 3.1.1.
    var usesExtendedCommands: Bool {
        report.features.contains(.extendedAdvertising)
            ? Self.extendedCommands.allSatisfy(report.commands.contains) : isExtendedOnly
    }

    /// Whether it can know peers by their keys, and be told that they may use their identities as well.
    ///
    /// Without that it would take no notice of a peer that gave a key and uses no private addresses.
    var resolvesAddresses: Bool {
        let needed: [HCI.Opcode] = [
            .leAddDeviceToResolvingList, .leRemoveDeviceFromResolvingList, .leClearResolvingList,
            .leSetAddressResolutionEnable, .leSetResolvablePrivateAddressTimeout, .leSetPrivacyMode,
        ]
        return report.features.contains(.privacy) && needed.allSatisfy(report.commands.contains)
    }
}

extension DeviceAddress {
    /// Whether somebody gave the controller this address: memory that was never written is all zeros or all ones.
    var isGiven: Bool { value != 0 && value != 0xFFFF_FFFF_FFFF }
}
