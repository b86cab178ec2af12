package import BLEHost
package import BLEWire

/// What a controller says that it is and can do; `nil` for what it does not tell.
package struct ControllerFacts: Equatable, Sendable {
    package var version: HCI.CoreVersion?
    package var manufacturer: CompanyIdentifier?
    /// Its public address.
    package var address: DeviceAddress?
    /// `nil` also if it has no Bluetooth Low Energy.
    package var features: LEFeatures?
    /// The commands that it says it knows.
    package var commands: SupportedCommands?
    /// Which activities it combines: Core 6.0, Vol 4, Part E, 7.8.27.
    package var states: UInt64?
    /// How many octets of ACL data a packet may have, and how many packets it keeps.
    package var aclOctets: Int?
    package var aclPackets: Int?
    /// Whether BR/EDR uses the same buffers.
    package var sharesBuffers = false
    package var acceptListSize: Int?
    package var resolvingListSize: Int?
    /// How many advertisements it can send at a time; 1 if it knows no extended advertising.
    package var advertisingSets: Int?
    /// How much data an advertisement may have, in octets.
    package var advertisingOctets: Int?

    package init() {}

    /// What devices may do in Bluetooth Low Energy.
    ///
    /// Core 6.0, Vol 3, Part C, 2.2.2.
    package enum Role: String, CaseIterable, Sendable {
        case broadcaster, observer, peripheral, central

        /// The states and roles of which a controller has one at least if it can play this one.
        fileprivate var states: UInt64 {
            switch self {
            case .broadcaster: 1 << 0 | 1 << 1
            case .observer: 1 << 4 | 1 << 5
            case .central: 1 << 6
            case .peripheral: 1 << 7
            }
        }
    }

    /// What of it a host must heed; `nil` if it does not tell which commands it knows.
    package var quirks: [ControllerQuirk]? {
        guard let commands, let features else { return nil }
        let report = ControllerReport(
            commands: commands,
            features: features,
            address: address ?? .none,
            buffers: aclPackets ?? 0,
            sharesBuffers: sharesBuffers
        )
        return ControllerQuirks(report).found
    }

    /// The roles that it can play; `nil` if it does not tell.
    package var roles: [Role]? {
        states.map { states in Role.allCases.filter { states & $0.states != 0 } }
    }
}

/// Asks a controller what it is and can do, one question after the other.
///
/// Core 6.0, Vol 4, Part E, 7.4 and 7.8.
struct ControllerProbe {
    private enum Step: Int, CaseIterable {
        case reset, version, commands, address, features, buffers, sharedBuffers
        case states, acceptList, resolvingList, advertisingSets, advertisingData
    }

    private var step = Step.reset
    private(set) var facts = ControllerFacts()

    /// The first question.
    var first: HCICommandPacket { .reset }

    enum OnReceive: Equatable {
        /// It is no answer to what was asked.
        case ignore
        case ask(HCICommandPacket)
        case done(ControllerFacts)
        /// The controller does not even reset.
        case broken
    }

    /// Takes a whole H4 packet from the controller.
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
