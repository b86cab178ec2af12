/// Any HCI event, including LE events: a code and its parameters.
///
/// Core 6.0, Vol 4, Part E, 5.4.4.
package enum HCIEventPacket: Equatable, Sendable {
    case disconnectionComplete(HCI.DisconnectionComplete)
    case encryptionChange(HCI.EncryptionChange)
    case readRemoteVersionInformationComplete(HCI.ReadRemoteVersionInformationComplete)
    case commandComplete(HCI.CommandComplete)
    case commandStatus(HCI.CommandStatus)
    case hardwareError(HCI.HardwareError)
    case numberOfCompletedPackets(HCI.NumberOfCompletedPackets)
    case dataBufferOverflow(HCI.DataBufferOverflow)
    case encryptionKeyRefreshComplete(HCI.EncryptionKeyRefreshComplete)
    case authenticatedPayloadTimeoutExpired(HCI.AuthenticatedPayloadTimeoutExpired)
    case encryptionChangeV2(HCI.EncryptionChangeV2)
    case leConnectionComplete(HCI.LEConnectionComplete)
    case leAdvertisingReport(HCI.LEAdvertisingReport)
    case leConnectionUpdateComplete(HCI.LEConnectionUpdateComplete)
    case leReadRemoteFeaturesComplete(HCI.LEReadRemoteFeaturesComplete)
    case leLongTermKeyRequest(HCI.LELongTermKeyRequest)
    case leRemoteConnectionParameterRequest(HCI.LERemoteConnectionParameterRequest)
    case leDataLengthChange(HCI.LEDataLengthChange)
    case leReadLocalP256PublicKeyComplete(HCI.LEReadLocalP256PublicKeyComplete)
    case leGenerateDHKeyComplete(HCI.LEGenerateDHKeyComplete)
    case leEnhancedConnectionComplete(HCI.LEEnhancedConnectionComplete)
    case leDirectedAdvertisingReport(HCI.LEDirectedAdvertisingReport)
    case lePHYUpdateComplete(HCI.LEPHYUpdateComplete)
    case leExtendedAdvertisingReport(HCI.LEExtendedAdvertisingReport)
    case leScanTimeout
    case leAdvertisingSetTerminated(HCI.LEAdvertisingSetTerminated)
    case leScanRequestReceived(HCI.LEScanRequestReceived)
    case leChannelSelectionAlgorithm(HCI.LEChannelSelectionAlgorithm)
    case leTransmitPowerReporting(HCI.LETransmitPowerReporting)
    /// An event that this module does not declare, with its parameters.
    case unknown(HCI.EventCode, [UInt8])
    /// An LE event that this module does not declare, with the parameters after its subevent code.
    case unknownLE(HCI.LESubevent, [UInt8])
}

extension HCI {
    /// The header of an event.
    ///
    /// Core 6.0, Vol 4, Part E, 5.4.4.
    struct EventHeader: Packet {
        var code = EventCode(wire: 0)
        var length: UInt8 = 0

        mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&code, "Event Code")
            try wire.integer(&length, "Parameter Total Length")
        }
    }
}

extension HCIEventPacket {
    /// Decodes an event that fills `bytes` exactly.
    ///
    /// `bytes` start after the packet indicator.
    ///
    /// - Throws: ``PacketError/truncated(field:)`` or ``PacketError/trailing(count:)`` if the length octet does not
    ///   match the packet; otherwise the error from decoding the parameters. An unknown code is not an error.
    package init(decoding bytes: Span<UInt8>) throws(PacketError) {
        var decoder = PacketDecoder(bytes)
        let header = try HCI.EventHeader(from: &decoder)
        try decoder.expect(Int(header.length), "Parameter Total Length")
        guard header.code == .leMeta else {
            self = try Self.decode(header.code, parameters: decoder.unread)
            return
        }
        var subevent = HCI.LESubevent(wire: 0)
        try decoder.field(&subevent, "Subevent Code")
        self = try Self.decode(subevent, parameters: decoder.unread)
    }

    /// Decodes an event that fills `bytes` exactly.
    ///
    /// `bytes` start after the packet indicator.
    package init(decoding bytes: [UInt8]) throws(PacketError) { try self.init(decoding: bytes.span) }

    private static func decode(
        _ code: HCI.EventCode,
        parameters: Span<UInt8>
    ) throws(PacketError) -> HCIEventPacket {
        switch code {
        case .disconnectionComplete: .disconnectionComplete(try .init(decoding: parameters))
        case .encryptionChange: .encryptionChange(try .init(decoding: parameters))
        case .readRemoteVersionInformationComplete:
            .readRemoteVersionInformationComplete(try .init(decoding: parameters))
        case .commandComplete: .commandComplete(try .init(decoding: parameters))
        case .commandStatus: .commandStatus(try .init(decoding: parameters))
        case .hardwareError: .hardwareError(try .init(decoding: parameters))
        case .numberOfCompletedPackets: .numberOfCompletedPackets(try .init(decoding: parameters))
        case .dataBufferOverflow: .dataBufferOverflow(try .init(decoding: parameters))
        case .encryptionKeyRefreshComplete: .encryptionKeyRefreshComplete(try .init(decoding: parameters))
        case .authenticatedPayloadTimeoutExpired: .authenticatedPayloadTimeoutExpired(try .init(decoding: parameters))
        case .encryptionChangeV2: .encryptionChangeV2(try .init(decoding: parameters))
        default: .unknown(code, [UInt8](copying: parameters))
        }
    }

    private static func decode(
        _ subevent: HCI.LESubevent,
        parameters: Span<UInt8>
    ) throws(PacketError) -> HCIEventPacket {
        switch subevent {
        case .connectionComplete: .leConnectionComplete(try .init(decoding: parameters))
        case .advertisingReport: .leAdvertisingReport(try .init(decoding: parameters))
        case .connectionUpdateComplete: .leConnectionUpdateComplete(try .init(decoding: parameters))
        case .readRemoteFeaturesComplete: .leReadRemoteFeaturesComplete(try .init(decoding: parameters))
        case .longTermKeyRequest: .leLongTermKeyRequest(try .init(decoding: parameters))
        case .remoteConnectionParameterRequest: .leRemoteConnectionParameterRequest(try .init(decoding: parameters))
        case .dataLengthChange: .leDataLengthChange(try .init(decoding: parameters))
        case .readLocalP256PublicKeyComplete: .leReadLocalP256PublicKeyComplete(try .init(decoding: parameters))
        case .generateDHKeyComplete: .leGenerateDHKeyComplete(try .init(decoding: parameters))
        case .enhancedConnectionComplete: .leEnhancedConnectionComplete(try .init(decoding: parameters))
        case .directedAdvertisingReport: .leDirectedAdvertisingReport(try .init(decoding: parameters))
        case .phyUpdateComplete: .lePHYUpdateComplete(try .init(decoding: parameters))
        case .extendedAdvertisingReport: .leExtendedAdvertisingReport(try .init(decoding: parameters))
        case .scanTimeout: try bare(HCI.LEScanTimeout.self, parameters, .leScanTimeout)
        case .advertisingSetTerminated: .leAdvertisingSetTerminated(try .init(decoding: parameters))
        case .scanRequestReceived: .leScanRequestReceived(try .init(decoding: parameters))
        case .channelSelectionAlgorithm: .leChannelSelectionAlgorithm(try .init(decoding: parameters))
        case .transmitPowerReporting: .leTransmitPowerReporting(try .init(decoding: parameters))
        default: .unknownLE(subevent, [UInt8](copying: parameters))
        }
    }

    /// Returns `packet`, an event without parameters; throws if `parameters` is not empty.
    private static func bare<Event: Packet>(
        _: Event.Type,
        _ parameters: Span<UInt8>,
        _ packet: HCIEventPacket
    ) throws(PacketError) -> HCIEventPacket {
        _ = try Event(decoding: parameters)
        return packet
    }
}
