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
