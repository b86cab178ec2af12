extension HCIEventPacket {
    /// The code of this event; ``HCI/EventCode/leMeta`` for all LE events.
    package var code: HCI.EventCode {
        switch self {
        case .disconnectionComplete: .disconnectionComplete
        case .encryptionChange: .encryptionChange
        case .readRemoteVersionInformationComplete: .readRemoteVersionInformationComplete
        case .commandComplete: .commandComplete
        case .commandStatus: .commandStatus
        case .hardwareError: .hardwareError
        case .numberOfCompletedPackets: .numberOfCompletedPackets
        case .dataBufferOverflow: .dataBufferOverflow
        case .encryptionKeyRefreshComplete: .encryptionKeyRefreshComplete
        case .authenticatedPayloadTimeoutExpired: .authenticatedPayloadTimeoutExpired
        case .encryptionChangeV2: .encryptionChangeV2
        case .unknown(let code, _): code
        case .leConnectionComplete, .leAdvertisingReport, .leConnectionUpdateComplete,
            .leReadRemoteFeaturesComplete, .leLongTermKeyRequest, .leRemoteConnectionParameterRequest,
            .leDataLengthChange, .leReadLocalP256PublicKeyComplete, .leGenerateDHKeyComplete,
            .leEnhancedConnectionComplete, .leDirectedAdvertisingReport, .lePHYUpdateComplete,
            .leExtendedAdvertisingReport, .leScanTimeout, .leAdvertisingSetTerminated, .leScanRequestReceived,
            .leChannelSelectionAlgorithm, .leTransmitPowerReporting, .unknownLE:
            .leMeta
        }
    }

    /// The subevent code of this event; `nil` if it is not an LE event.
    package var subevent: HCI.LESubevent? {
        switch self {
        case .leConnectionComplete: .connectionComplete
        case .leAdvertisingReport: .advertisingReport
        case .leConnectionUpdateComplete: .connectionUpdateComplete
        case .leReadRemoteFeaturesComplete: .readRemoteFeaturesComplete
        case .leLongTermKeyRequest: .longTermKeyRequest
        case .leRemoteConnectionParameterRequest: .remoteConnectionParameterRequest
        case .leDataLengthChange: .dataLengthChange
        case .leReadLocalP256PublicKeyComplete: .readLocalP256PublicKeyComplete
        case .leGenerateDHKeyComplete: .generateDHKeyComplete
        case .leEnhancedConnectionComplete: .enhancedConnectionComplete
        case .leDirectedAdvertisingReport: .directedAdvertisingReport
        case .lePHYUpdateComplete: .phyUpdateComplete
        case .leExtendedAdvertisingReport: .extendedAdvertisingReport
        case .leScanTimeout: .scanTimeout
        case .leAdvertisingSetTerminated: .advertisingSetTerminated
        case .leScanRequestReceived: .scanRequestReceived
        case .leChannelSelectionAlgorithm: .channelSelectionAlgorithm
        case .leTransmitPowerReporting: .transmitPowerReporting
        case .unknownLE(let subevent, _): subevent
        case .disconnectionComplete, .encryptionChange, .readRemoteVersionInformationComplete, .commandComplete,
            .commandStatus, .hardwareError, .numberOfCompletedPackets, .dataBufferOverflow,
            .encryptionKeyRefreshComplete, .authenticatedPayloadTimeoutExpired, .encryptionChangeV2, .unknown:
            nil
        }
    }

    /// The encoded event, starting with the packet indicator.
    package var encoded: [UInt8] {
        var encoder = PacketEncoder()
        encode(into: &encoder)
        return encoder.bytes
    }

    /// Appends the encoded event, starting with the packet indicator.
    package func encode(into encoder: inout PacketEncoder) {
        let start = encoder.bytes.count
        do { try walk(&encoder, parameterLength: 0) } catch {
            preconditionFailure("cannot encode \(self): \(error)")
        }
        let count = encoder.bytes.count - start - Self.headerSize
        precondition(count <= 255, "the parameters of \(code) must take at most 255 octets, not \(count)")
        encoder.replace(at: start + Self.headerSize - 1, with: UInt8(count))
    }

    /// The fields of this event, starting with the packet indicator.
    ///
    /// The return parameters in Command Complete are described field by field if the command is known and the
    /// parameters have its format.
    package var dissection: DissectedLayer {
        var dissector = PacketDissector()
        let length = UInt8(truncatingIfNeeded: encoded.count - Self.headerSize)
        do { try walk(&dissector, parameterLength: length) } catch {
            preconditionFailure("cannot dissect \(self): \(error)")
        }
        let name = "HCI Event \(subevent?.description ?? code.description)"
        guard case .commandComplete(let event) = self, let returned = event.dissectedReturn else {
            return DissectedLayer(name: name, fields: dissector.fields)
        }
        let fields = dissector.fields.dropLast()
        let offset = fields.last?.range.upperBound ?? 0
        return DissectedLayer(name: name, fields: fields + returned.map { $0.shifted(by: offset) })
    }

    /// The number of octets before the parameters: packet indicator, event code and length.
    private static let headerSize = 3

    private func walk(_ wire: inout some AnyWire, parameterLength: UInt8) throws(PacketError) {
        var type = HCI.PacketType.event
        try wire.field(&type, "Packet Type")
        var header = HCI.EventHeader(code: code, length: parameterLength)
        try header.layout(&wire)
        if var subevent { try wire.field(&subevent, "Subevent Code") }
        try walkParameters(&wire)
    }

    private func walkParameters(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .disconnectionComplete(var event): try event.layout(&wire)
        case .encryptionChange(var event): try event.layout(&wire)
        case .readRemoteVersionInformationComplete(var event): try event.layout(&wire)
        case .commandComplete(var event): try event.layout(&wire)
        case .commandStatus(var event): try event.layout(&wire)
        case .hardwareError(var event): try event.layout(&wire)
        case .numberOfCompletedPackets(var event): try event.layout(&wire)
        case .dataBufferOverflow(var event): try event.layout(&wire)
        case .encryptionKeyRefreshComplete(var event): try event.layout(&wire)
        case .authenticatedPayloadTimeoutExpired(var event): try event.layout(&wire)
        case .encryptionChangeV2(var event): try event.layout(&wire)
        case .leConnectionComplete(var event): try event.layout(&wire)
        case .leAdvertisingReport(var event): try event.layout(&wire)
        case .leConnectionUpdateComplete(var event): try event.layout(&wire)
        case .leReadRemoteFeaturesComplete(var event): try event.layout(&wire)
        case .leLongTermKeyRequest(var event): try event.layout(&wire)
        case .leRemoteConnectionParameterRequest(var event): try event.layout(&wire)
        case .leDataLengthChange(var event): try event.layout(&wire)
        case .leReadLocalP256PublicKeyComplete(var event): try event.layout(&wire)
        case .leGenerateDHKeyComplete(var event): try event.layout(&wire)
        case .leEnhancedConnectionComplete(var event): try event.layout(&wire)
        case .leDirectedAdvertisingReport(var event): try event.layout(&wire)
        case .lePHYUpdateComplete(var event): try event.layout(&wire)
        case .leExtendedAdvertisingReport(var event): try event.layout(&wire)
        case .leAdvertisingSetTerminated(var event): try event.layout(&wire)
        case .leScanRequestReceived(var event): try event.layout(&wire)
        case .leChannelSelectionAlgorithm(var event): try event.layout(&wire)
        case .leTransmitPowerReporting(var event): try event.layout(&wire)
        case .unknown(_, var parameters), .unknownLE(_, var parameters): try wire.rest(&parameters, "Parameters")
        case .leScanTimeout: break
        }
    }
}
