import BLEWire

/// The mapping of HCI and ATT errors to error codes for apps.
enum ErrorTable {
    /// Returns the code for an HCI status; ``CBError/unknown`` if it is not in the table.
    static func code(of reason: HCI.Status) -> CBError.Code { codes[reason] ?? .unknown }

    /// Returns the code for an ATT error.
    ///
    /// The number stays the same: Apple's codes are those of the specification, and apps compare error codes of their
    /// own profiles by number.
    static func code(of refusal: ATT.ErrorCode) -> CBATTError.Code {
        CBATTError.Code(rawValue: Int(refusal.wire)) ?? .unlikelyError
    }

    private static let codes: [HCI.Status: CBError.Code] = Dictionary(
        uniqueKeysWithValues: rows.flatMap { row in row.reasons.map { ($0, row.code) } }
    )

    /// The error codes for apps, each with the HCI statuses that it stands for.
    ///
    /// Core 6.0, Vol 1, Part F, 2.
    private static let rows: [(code: CBError.Code, reasons: [HCI.Status])] = [
        (
            .invalidParameters,
            [
                .invalidCommandParameters, .invalidLinkLayerParameters, .parameterOutOfMandatoryRange,
                .qosUnacceptableParameter, .type0SubmapNotDefined, .extendedInquiryResponseTooLarge, .packetTooLong,
            ]
        ),
        (.notConnected, [.unknownConnectionIdentifier]),
        (.outOfSpace, [.memoryCapacityExceeded, .limitReached]),
        (.operationCancelled, [.connectionTerminatedByLocalHost, .operationCancelledByHost]),
        (
            .connectionTimeout,
            [
                .connectionTimeout, .connectionAcceptTimeoutExceeded, .linkLayerResponseTimeout,
            ]
        ),
        (
            .peripheralDisconnected,
            [
                .remoteUserTerminatedConnection, .remoteDeviceLowResources, .remoteDevicePowerOff,
            ]
        ),
        (
            .connectionFailed,
            [
                .pageTimeout, .authenticationFailure, .connectionAlreadyExists, .connectionRejectedSecurity,
                .connectionRejectedAddress, .repeatedAttempts, .pairingNotAllowed, .unknownLMPPDU,
                .linkLayerProcedureCollision, .lmpPDUNotAllowed, .encryptionModeNotAcceptable, .instantPassed,
                .differentTransactionCollision, .insufficientSecurity, .unacceptableConnectionParameters,
                .advertisingTimeout, .micFailure, .connectionFailedToBeEstablished, .noSuitableChannelFound,
            ]
        ),
        (
            .connectionLimitReached,
            [
                .connectionLimitExceeded, .synchronousConnectionLimitExceeded, .connectionRejectedLimitedResources,
            ]
        ),
        (.unknownDevice, [.unknownAdvertisingIdentifier]),
        (
            .operationNotSupported,
            [
                .unknownCommand, .unsupportedFeatureOrParameterValue, .unsupportedRemoteFeature,
                .unsupportedLinkLayerParameterValue, .requestedQoSNotSupported, .pairingWithUnitKeyNotSupported,
                .channelClassificationNotSupported, .secureSimplePairingNotSupportedByHost,
                .coarseClockAdjustmentRejected, .insufficientChannels,
            ]
        ),
        (.peerRemovedPairingInformation, [.pinOrKeyMissing]),
        (
            .unknown,
            [
                .success, .hardwareFailure, .commandDisallowed, .scoOffsetRejected, .scoIntervalRejected,
                .scoAirModeRejected, .unspecifiedError, .roleChangeNotAllowed, .linkKeyCannotBeChanged, .qosRejected,
                .roleSwitchPending, .reservedSlotViolation, .roleSwitchFailed, .hostBusyPairing, .controllerBusy,
                .tooLate, .tooEarly,
            ]
        ),
    ]

    /// Returns whether the table contains the status.
    static func knows(_ reason: HCI.Status) -> Bool { codes[reason] != nil }
}
