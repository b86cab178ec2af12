extension HCI {
    /// An HCI status code; unknown codes are kept.
    ///
    /// Core 6.0, Vol 1, Part F, 1.3.
    package struct Status: WireField, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let success = Self(wire: 0x00)
        package static let unknownCommand = Self(wire: 0x01)
        package static let unknownConnectionIdentifier = Self(wire: 0x02)
        package static let hardwareFailure = Self(wire: 0x03)
        package static let pageTimeout = Self(wire: 0x04)
        package static let authenticationFailure = Self(wire: 0x05)
        package static let pinOrKeyMissing = Self(wire: 0x06)
        package static let memoryCapacityExceeded = Self(wire: 0x07)
        package static let connectionTimeout = Self(wire: 0x08)
        package static let connectionLimitExceeded = Self(wire: 0x09)
        package static let synchronousConnectionLimitExceeded = Self(wire: 0x0A)
        package static let connectionAlreadyExists = Self(wire: 0x0B)
        package static let commandDisallowed = Self(wire: 0x0C)
        package static let connectionRejectedLimitedResources = Self(wire: 0x0D)
        package static let connectionRejectedSecurity = Self(wire: 0x0E)
        package static let connectionRejectedAddress = Self(wire: 0x0F)
        package static let connectionAcceptTimeoutExceeded = Self(wire: 0x10)
        package static let unsupportedFeatureOrParameterValue = Self(wire: 0x11)
        package static let invalidCommandParameters = Self(wire: 0x12)
        package static let remoteUserTerminatedConnection = Self(wire: 0x13)
        package static let remoteDeviceLowResources = Self(wire: 0x14)
        package static let remoteDevicePowerOff = Self(wire: 0x15)
        package static let connectionTerminatedByLocalHost = Self(wire: 0x16)
        package static let repeatedAttempts = Self(wire: 0x17)
        package static let pairingNotAllowed = Self(wire: 0x18)
        package static let unknownLMPPDU = Self(wire: 0x19)
        package static let unsupportedRemoteFeature = Self(wire: 0x1A)
        package static let scoOffsetRejected = Self(wire: 0x1B)
        package static let scoIntervalRejected = Self(wire: 0x1C)
        package static let scoAirModeRejected = Self(wire: 0x1D)
        package static let invalidLinkLayerParameters = Self(wire: 0x1E)
        package static let unspecifiedError = Self(wire: 0x1F)
        package static let unsupportedLinkLayerParameterValue = Self(wire: 0x20)
        package static let roleChangeNotAllowed = Self(wire: 0x21)
        package static let linkLayerResponseTimeout = Self(wire: 0x22)
        package static let linkLayerProcedureCollision = Self(wire: 0x23)
        package static let lmpPDUNotAllowed = Self(wire: 0x24)
        package static let encryptionModeNotAcceptable = Self(wire: 0x25)
        package static let linkKeyCannotBeChanged = Self(wire: 0x26)
        package static let requestedQoSNotSupported = Self(wire: 0x27)
        package static let instantPassed = Self(wire: 0x28)
        package static let pairingWithUnitKeyNotSupported = Self(wire: 0x29)
        package static let differentTransactionCollision = Self(wire: 0x2A)
        package static let qosUnacceptableParameter = Self(wire: 0x2C)
        package static let qosRejected = Self(wire: 0x2D)
        package static let channelClassificationNotSupported = Self(wire: 0x2E)
        package static let insufficientSecurity = Self(wire: 0x2F)
        package static let parameterOutOfMandatoryRange = Self(wire: 0x30)
        package static let roleSwitchPending = Self(wire: 0x32)
        package static let reservedSlotViolation = Self(wire: 0x34)
        package static let roleSwitchFailed = Self(wire: 0x35)
        package static let extendedInquiryResponseTooLarge = Self(wire: 0x36)
        package static let secureSimplePairingNotSupportedByHost = Self(wire: 0x37)
        package static let hostBusyPairing = Self(wire: 0x38)
        package static let noSuitableChannelFound = Self(wire: 0x39)
        package static let controllerBusy = Self(wire: 0x3A)
        package static let unacceptableConnectionParameters = Self(wire: 0x3B)
        package static let advertisingTimeout = Self(wire: 0x3C)
        package static let micFailure = Self(wire: 0x3D)
        package static let connectionFailedToBeEstablished = Self(wire: 0x3E)
        package static let coarseClockAdjustmentRejected = Self(wire: 0x40)
        package static let type0SubmapNotDefined = Self(wire: 0x41)
        package static let unknownAdvertisingIdentifier = Self(wire: 0x42)
        package static let limitReached = Self(wire: 0x43)
        package static let operationCancelledByHost = Self(wire: 0x44)
        package static let packetTooLong = Self(wire: 0x45)
        package static let tooLate = Self(wire: 0x46)
        package static let tooEarly = Self(wire: 0x47)
        package static let insufficientChannels = Self(wire: 0x48)
    }
}

extension HCI.Status: CustomStringConvertible {
    /// The status's name in the specification, or its code.
    package var description: String {
        Self.names.first { $0.status == self }?.name ?? "error 0x\(String(wire, radix: 16))"
    }

    private static let names: [(status: HCI.Status, name: String)] = [
        (.success, "Success"),
        (.unknownCommand, "Unknown HCI Command"),
        (.unknownConnectionIdentifier, "Unknown Connection Identifier"),
        (.hardwareFailure, "Hardware Failure"),
        (.pageTimeout, "Page Timeout"),
        (.authenticationFailure, "Authentication Failure"),
        (.pinOrKeyMissing, "PIN or Key Missing"),
        (.memoryCapacityExceeded, "Memory Capacity Exceeded"),
        (.connectionTimeout, "Connection Timeout"),
        (.connectionLimitExceeded, "Connection Limit Exceeded"),
        (.synchronousConnectionLimitExceeded, "Synchronous Connection Limit to a Device Exceeded"),
        (.connectionAlreadyExists, "Connection Already Exists"),
        (.commandDisallowed, "Command Disallowed"),
        (.connectionRejectedLimitedResources, "Connection Rejected due to Limited Resources"),
        (.connectionRejectedSecurity, "Connection Rejected due to Security Reasons"),
        (.connectionRejectedAddress, "Connection Rejected due to Unacceptable BD_ADDR"),
        (.connectionAcceptTimeoutExceeded, "Connection Accept Timeout Exceeded"),
        (.unsupportedFeatureOrParameterValue, "Unsupported Feature or Parameter Value"),
        (.invalidCommandParameters, "Invalid HCI Command Parameters"),
        (.remoteUserTerminatedConnection, "Remote User Terminated Connection"),
        (.remoteDeviceLowResources, "Remote Device Terminated Connection due to Low Resources"),
        (.remoteDevicePowerOff, "Remote Device Terminated Connection due to Power Off"),
        (.connectionTerminatedByLocalHost, "Connection Terminated by Local Host"),
        (.repeatedAttempts, "Repeated Attempts"),
        (.pairingNotAllowed, "Pairing Not Allowed"),
        (.unknownLMPPDU, "Unknown LMP PDU"),
        (.unsupportedRemoteFeature, "Unsupported Remote Feature"),
        (.scoOffsetRejected, "SCO Offset Rejected"),
        (.scoIntervalRejected, "SCO Interval Rejected"),
        (.scoAirModeRejected, "SCO Air Mode Rejected"),
        (.invalidLinkLayerParameters, "Invalid LMP Parameters / Invalid LL Parameters"),
        (.unspecifiedError, "Unspecified Error"),
        (.unsupportedLinkLayerParameterValue, "Unsupported LMP Parameter Value / Unsupported LL Parameter Value"),
        (.roleChangeNotAllowed, "Role Change Not Allowed"),
        (.linkLayerResponseTimeout, "LMP Response Timeout / LL Response Timeout"),
        (.linkLayerProcedureCollision, "LMP Error Transaction Collision / LL Procedure Collision"),
        (.lmpPDUNotAllowed, "LMP PDU Not Allowed"),
        (.encryptionModeNotAcceptable, "Encryption Mode Not Acceptable"),
        (.linkKeyCannotBeChanged, "Link Key Cannot Be Changed"),
        (.requestedQoSNotSupported, "Requested QoS Not Supported"),
        (.instantPassed, "Instant Passed"),
        (.pairingWithUnitKeyNotSupported, "Pairing With Unit Key Not Supported"),
        (.differentTransactionCollision, "Different Transaction Collision"),
        (.qosUnacceptableParameter, "QoS Unacceptable Parameter"),
        (.qosRejected, "QoS Rejected"),
        (.channelClassificationNotSupported, "Channel Classification Not Supported"),
        (.insufficientSecurity, "Insufficient Security"),
        (.parameterOutOfMandatoryRange, "Parameter Out of Mandatory Range"),
        (.roleSwitchPending, "Role Switch Pending"),
        (.reservedSlotViolation, "Reserved Slot Violation"),
        (.roleSwitchFailed, "Role Switch Failed"),
        (.extendedInquiryResponseTooLarge, "Extended Inquiry Response Too Large"),
        (.secureSimplePairingNotSupportedByHost, "Secure Simple Pairing Not Supported by Host"),
        (.hostBusyPairing, "Host Busy - Pairing"),
        (.noSuitableChannelFound, "Connection Rejected due to No Suitable Channel Found"),
        (.controllerBusy, "Controller Busy"),
        (.unacceptableConnectionParameters, "Unacceptable Connection Parameters"),
        (.advertisingTimeout, "Advertising Timeout"),
        (.micFailure, "Connection Terminated due to MIC Failure"),
        (.connectionFailedToBeEstablished, "Connection Failed to be Established / Synchronization Timeout"),
        (
            .coarseClockAdjustmentRejected,
            "Coarse Clock Adjustment Rejected but Will Try to Adjust Using Clock Dragging"
        ),
        (.type0SubmapNotDefined, "Type0 Submap Not Defined"),
        (.unknownAdvertisingIdentifier, "Unknown Advertising Identifier"),
        (.limitReached, "Limit Reached"),
        (.operationCancelledByHost, "Operation Cancelled by Host"),
        (.packetTooLong, "Packet Too Long"),
        (.tooLate, "Too Late"),
        (.tooEarly, "Too Early"),
        (.insufficientChannels, "Insufficient Channels"),
    ]
}

extension HCI {
    /// Creates the event that reports the failure of a command.
    ///
    /// For a command with return parameters, the event is Command Complete, with meaningless parameters after the
    /// status. For other commands, including unknown ones, the event is Command Status.
    ///
    /// Core 6.0, Vol 4, Part E, 7.7.14 and 7.7.15.
    package static func refusal(of opcode: Opcode, _ status: Status) -> HCIEventPacket {
        guard let command = commands.first(where: { $0.opcode == opcode }) else {
            return .commandStatus(.init(status: status, opcode: opcode))
        }
        var parameters = blankReturn(of: command)
        guard !parameters.isEmpty else { return .commandStatus(.init(status: status, opcode: opcode)) }
        parameters[0] = status.wire
        return .commandComplete(.init(allowed: 1, opcode: opcode, parameters: parameters))
    }

    private static func blankReturn<Command: HCICommand>(of _: Command.Type) -> [UInt8] { Command.Return().encoded }
}
