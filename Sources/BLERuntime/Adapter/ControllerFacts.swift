package import BLEHost
package import BLEWire

/// The properties that a controller reports about itself; a property that it does not report is `nil`.
package struct ControllerFacts: Equatable, Sendable {
    package var version: HCI.CoreVersion?
    package var manufacturer: CompanyIdentifier?
    /// The public address.
    package var address: DeviceAddress?
    /// The LE features; also `nil` if the controller does not support LE.
    package var features: LEFeatures?
    /// The supported commands.
    package var commands: SupportedCommands?
    /// The supported combinations of states: Core 6.0, Vol 4, Part E, 7.8.27.
    package var states: UInt64?
    /// The maximum payload of an ACL packet, in octets.
    package var aclOctets: Int?
    /// The number of ACL packets that fit into the controller's buffers.
    package var aclPackets: Int?
    /// True if BR/EDR links use the same buffers as LE links.
    package var sharesBuffers = false
    package var acceptListSize: Int?
    package var resolvingListSize: Int?
    /// The number of advertising sets; 1 for a controller without extended advertising.
    package var advertisingSets: Int?
    /// The maximum length of advertising data, in octets.
    package var advertisingOctets: Int?

    package init() {}

    /// The roles of LE devices.
    ///
    /// Core 6.0, Vol 3, Part C, 2.2.2.
    package enum Role: String, CaseIterable, Sendable {
        case broadcaster, observer, peripheral, central

        /// The bits of ``ControllerFacts/states`` for this role; a controller that supports the role has at least one
        /// of them set.
        fileprivate var states: UInt64 {
            switch self {
            case .broadcaster: 1 << 0 | 1 << 1
            case .observer: 1 << 4 | 1 << 5
            case .central: 1 << 6
            case .peripheral: 1 << 7
            }
        }
    }

    /// The report as the host interprets it; `nil` if the controller does not report its commands or LE features.
    package var quirks: ControllerQuirks? {
        guard let commands, let features else { return nil }
        let report = ControllerReport(
            commands: commands,
            features: features,
            address: address ?? .none,
            buffers: aclPackets ?? 0,
            sharesBuffers: sharesBuffers
        )
        return ControllerQuirks(report)
    }

    /// The supported roles; `nil` if the controller does not report its states.
    package var roles: [Role]? {
        states.map { states in Role.allCases.filter { states & $0.states != 0 } }
    }
}

/// A sequence of HCI commands that reads the properties of a controller.
///
/// Core 6.0, Vol 4, Part E, 7.4 and 7.8.
struct ControllerProbe {
    private enum Step: Int, CaseIterable {
        case reset, version, commands, address, features, buffers, sharedBuffers
        case states, acceptList, resolvingList, advertisingSets, advertisingData
    }

    private var step = Step.reset
    private(set) var facts = ControllerFacts()

    /// The command to send first.
    var first: HCICommandPacket { .reset }

    enum OnReceive: Equatable {
        /// The packet is not the response to the pending command.
        case ignore
        case ask(HCICommandPacket)
        case done(ControllerFacts)
        /// The reset command failed.
        case broken
    }

    /// Processes an H4 packet from the controller, and returns the next step.
    mutating func receive(_ packet: Span<UInt8>) -> OnReceive {
        guard packet.count > 1, packet[0] == 0x04,
            let event = try? HCIEventPacket(decoding: packet.extracting(1..<packet.count))
        else { return .ignore }
        switch event {
        case .commandComplete(let answer) where answer.opcode == Self.command(for: step).opcode:
            return proceed(answer.status ?? .unspecifiedError, answer)
        case .commandStatus(let answer) where answer.opcode == Self.command(for: step).opcode:
            return proceed(answer.status, nil)
        default: return .ignore
        }
    }

    private mutating func proceed(_ status: HCI.Status, _ answer: HCI.CommandComplete?) -> OnReceive {
        if step == .reset, status != .success { return .broken }
        if status == .success, let answer { try? read(answer) }
        while let next = Step(rawValue: step.rawValue + 1) {
            step = next
            if isWorthwhile(next) { return .ask(Self.command(for: next)) }
        }
        if facts.features?.contains(.extendedAdvertising) == false {
            (facts.advertisingSets, facts.advertisingOctets) = (1, 31)
        }
        return .done(facts)
    }

    private func isWorthwhile(_ step: Step) -> Bool {
        switch step {
        case .reset, .version, .commands, .address, .features, .buffers: true
        case .sharedBuffers: facts.aclPackets ?? 0 == 0
        case .states, .acceptList, .resolvingList, .advertisingSets, .advertisingData:
            facts.commands?.contains(Self.command(for: step).opcode) ?? false
        }
    }

    private static func command(for step: Step) -> HCICommandPacket {
        switch step {
        case .reset: .reset
        case .version: .readLocalVersionInformation
        case .commands: .readLocalSupportedCommands
        case .address: .readBDADDR
        case .features: .leReadLocalSupportedFeatures
        case .buffers: .leReadBufferSize
        case .sharedBuffers: .readBufferSize
        case .states: .leReadSupportedStates
        case .acceptList: .leReadFilterAcceptListSize
        case .resolvingList: .leReadResolvingListSize
        case .advertisingSets: .leReadNumberOfSupportedAdvertisingSets
        case .advertisingData: .leReadMaximumAdvertisingDataLength
        }
    }

    private mutating func read(_ answer: HCI.CommandComplete) throws(PacketError) {
        switch step {
        case .reset: break
        case .version:
            let version = try answer.returned(by: HCI.ReadLocalVersionInformation.self)
            (facts.version, facts.manufacturer) = (version.hciVersion, CompanyIdentifier(wire: version.company))
        case .commands: facts.commands = try answer.returned(by: HCI.ReadLocalSupportedCommands.self).commands
        case .address:
            let address = try answer.returned(by: HCI.ReadBDADDR.self).address
            facts.address = address == .none ? nil : address
        case .features: facts.features = try answer.returned(by: HCI.LEReadLocalSupportedFeatures.self).features
        case .buffers:
            let buffers = try answer.returned(by: HCI.LEReadBufferSize.self)
            (facts.aclOctets, facts.aclPackets) = (Int(buffers.aclLength), Int(buffers.aclCount))
        case .sharedBuffers:
            let buffers = try answer.returned(by: HCI.ReadBufferSize.self)
            facts.sharesBuffers = buffers.aclCount > 0
            (facts.aclOctets, facts.aclPackets) = (Int(buffers.aclLength), Int(buffers.aclCount))
        case .states: facts.states = try answer.returned(by: HCI.LEReadSupportedStates.self).states
        case .acceptList:
            facts.acceptListSize = Int(try answer.returned(by: HCI.LEReadFilterAcceptListSize.self).size)
        case .resolvingList:
            facts.resolvingListSize = Int(try answer.returned(by: HCI.LEReadResolvingListSize.self).size)
        case .advertisingSets:
            let sets = try answer.returned(by: HCI.LEReadNumberOfSupportedAdvertisingSets.self)
            facts.advertisingSets = Int(sets.count)
        case .advertisingData:
            let data = try answer.returned(by: HCI.LEReadMaximumAdvertisingDataLength.self)
            facts.advertisingOctets = Int(data.length)
        }
    }
}
