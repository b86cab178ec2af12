import BLEWire

/// What the reasons of controllers and servers are called in apps: the one place where that is decided.
enum ErrorTable {
    /// The code for a reason of a controller; ``CBError/unknown`` for what no row names.
    static func code(of reason: HCI.Status) -> CBError.Code { codes[reason] ?? .unknown }

    /// The code for a refusal of a server.
    ///
    /// Every number keeps itself: Apple's codes are those of the specification, and apps compare the ones that belong
    /// to their own profiles by number.
    static func code(of refusal: ATT.ErrorCode) -> CBATTError.Code {
        CBATTError.Code(rawValue: Int(refusal.wire)) ?? .unlikelyError
    }

    private static let codes: [HCI.Status: CBError.Code] = Dictionary(
        uniqueKeysWithValues: rows.flatMap { row in row.reasons.map { ($0, row.code) } }
    )

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

    /// Whether a row names the reason, so that nobody has to guess whether it was forgotten.
    static func knows(_ reason: HCI.Status) -> Bool { codes[reason] != nil }
}
