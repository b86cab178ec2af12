import BLEHost
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Errors")
struct ErrorTests {
    static let failures: [(Failure, Failure.Subject, String)] = [
        (.att(.readNotPermitted), .attribute, "CBATTError 2"), (.att(.init(wire: 0x80)), .attribute, "CBATTError 128"),
        (.att(.init(wire: 0xFF)), .connection, "CBATTError 255"),
        (.hci(.connectionTimeout), .connection, "CBError 6"),
        (.hci(.linkLayerResponseTimeout), .connection, "CBError 6"),
        (.hci(.connectionAcceptTimeoutExceeded), .connection, "CBError 6"),
        (.hci(.remoteUserTerminatedConnection), .connection, "CBError 7"),
        (.hci(.remoteDeviceLowResources), .connection, "CBError 7"),
        (.hci(.remoteDevicePowerOff), .connection, "CBError 7"),
        (.hci(.connectionFailedToBeEstablished), .connection, "CBError 10"),
        (.hci(.unacceptableConnectionParameters), .connection, "CBError 10"),
        (.hci(.micFailure), .connection, "CBError 10"),
        (.hci(.connectionTerminatedByLocalHost), .connection, "CBError 5"),
        (.hci(.connectionLimitExceeded), .connection, "CBError 11"),
        (.hci(.unknownConnectionIdentifier), .connection, "CBError 3"),
        (.hci(.pinOrKeyMissing), .connection, "CBError 14"), (.hci(.memoryCapacityExceeded), .connection, "CBError 4"),
        (.hci(.unsupportedRemoteFeature), .connection, "CBError 13"),
        (.hci(.invalidCommandParameters), .connection, "CBError 1"),
        (.hci(.init(wire: 0xEE)), .connection, "CBError 0"),
        (.timedOut, .attribute, "CBError 6"), (.notConnected, .attribute, "CBError 3"),
        (.cancelled, .connection, "CBError 5"), (.poweredOff, .attribute, "CBError 3"),
        (.poweredOff, .connection, "CBError 10"), (.notFound, .attribute, "CBError 2"),
        (.notFound, .connection, "CBError 12"), (.invalidParameters, .server, "CBError 1"),
        (.notSupported, .attribute, "CBError 13"), (.uuidNotAllowed, .server, "CBError 8"),
        (.alreadyInProgress, .server, "CBError 9"), (.alreadyInProgress, .attribute, "CBError 0"),
        (.invalidResponse, .attribute, "CBError 0"), (.peerMisbehaved, .channel, "CBError 0"),
        (.limitReached, .attribute, "CBError 4"), (.limitReached, .connection, "CBError 11"),
    ]

    @Test("Every failure of the host has an error", arguments: failures)
    func failure(_ failure: Failure, subject: Failure.Subject, expected: String) {
        #expect(brief(failure.error(about: subject)) == expected)
    }

    /// The code of ``CBError`` for each reason of a controller, counted from 0x00; `nil` where there is no such reason.
    static let reasons: [Int?] = [
        0, 13, 3, 0, 10, 10, 14, 4, 6, 11, 11, 10, 0, 11, 10, 10,
        6, 13, 1, 7, 7, 7, 5, 10, 10, 10, 13, 0, 0, 0, 1, 0,
        13, 0, 6, 10, 10, 10, 0, 13, 10, 13, 10, nil, 1, 0, 13, 10,
        1, nil, 0, nil, 0, 0, 1, 13, 0, 10, 0, 10, 10, 10, 10, nil,
        13, 1, 12, 4, 5, 1, 0, 0, 13,
    ]

    @Test("Every controller error has a code, and other values are unknown", arguments: UInt8(0)...255)
    func reasonOfController(number: UInt8) throws {
        let status = HCI.Status(wire: number)
        let expected = Int(number) < Self.reasons.count ? Self.reasons[Int(number)] : nil
        let error = try #require(Failure.hci(status).error(about: .connection) as? CBError)
        #expect(error.errorCode == expected ?? 0)
        #expect(ErrorTable.knows(status) == (expected != nil))
        let hasName = !status.description.hasPrefix("error 0x")
        #expect(ErrorTable.knows(status) == hasName, "\(status) is in one of the two tables alone")
        #expect(error.localizedDescription.hasSuffix("."))
        #expect((error as NSError).localizedFailureReason == "\(status)")
    }

    @Test("Every ATT error keeps its number and has a readable description", arguments: UInt8(1)...255)
    func refusal(number: UInt8) throws {
        let error = Failure.att(ATT.ErrorCode(wire: number)).error(about: .attribute)
        let refusal = try #require(error as? CBATTError)
        #expect(refusal.errorCode == Int(number))
        #expect((error as NSError).domain == CBATTErrorDomain)
        #expect((error as NSError).code == Int(number))
        #expect(error.localizedDescription.hasSuffix("."))
        #expect((error as NSError).localizedDescription == error.localizedDescription)
        #expect(refusal.code == CBATTError.Code(rawValue: Int(number)))
    }

    @Test("Every named code has its own description")
    func words() {
        let failures = (0...18).map { CBError(CBError.Code(rawValue: $0)!).localizedDescription }
        let refusals = (Array(0...0x13) + Array(0xFC...0xFF)).map {
            CBATTError(CBATTError.Code(rawValue: $0)!).localizedDescription
        }
        #expect(Set(failures).count == 19)
        #expect(Set(refusals).count == 24)
        #expect((failures + refusals).allSatisfy { !$0.contains("code") || $0.contains("Error") })
    }

    @Test("The error includes the controller's reason")
    func reason() throws {
        let error = Failure.hci(.remoteDevicePowerOff).error(about: .connection)
        #expect((error as NSError).userInfo["HCIReason"] as? Int == 0x15)
        #expect((error as? CBError)?.userInfo["HCIReason"] as? NSNumber == 0x15)
    }

    @Test(
        "Codes keep their numbers, with or without a name",
        arguments: Array(-1...20) + [0x80, 0x9F, 0xE0, 0xFF, 1000]
    )
    func codes(number: Int) throws {
        #expect(CBError.Code(rawValue: number)?.rawValue == number)
        #expect(CBATTError.Code(rawValue: number)?.rawValue == number)
        #expect(CBError.Code(rawValue: number) == CBError.Code(rawValue: number))
        #expect(CBError(try #require(CBError.Code(rawValue: number))).code.rawValue == number)
    }

    @Test("Patterns match the error in every form")
    func patterns() {
        let forms: [any Error] = [
            CBError(.connectionTimeout), CBError(.connectionTimeout) as NSError,
            NSError(domain: CBErrorDomain, code: 6),
        ]
        for error in forms {
            var isFound = false
            if case CBError.connectionTimeout = error { isFound = true }
            #expect(isFound)
            if case CBError.peripheralDisconnected = error { Issue.record("another code matched") }
            if case CBATTError.requestNotSupported = error { Issue.record("another domain matched") }
        }
        do {
            throw CBATTError(.insufficientEncryption)
        } catch CBATTError.insufficientEncryption {
        } catch { Issue.record("\(error)") }
    }

    @Test("Bridged to NSError, an error has its domain, code, user info and description")
    func bridging() {
        let error: any Error = CBError(.unknownDevice, userInfo: ["key": 1])
        let bridged = error as NSError
        #expect(bridged.domain == CBErrorDomain)
        #expect(bridged.code == CBError.Code.unknownDevice.rawValue)
        #expect(bridged.userInfo["key"] as? Int == 1)
        #expect(bridged.localizedDescription == "The device is not known.")
        #expect(error.localizedDescription == "The device is not known.")
        #expect(CBError(_nsError: bridged).code == .unknownDevice)
        #expect("\(error)" == "Error Domain=CBErrorDomain Code=12 \"The device is not known.\"")
        let own = CBError(.unknown, userInfo: [NSLocalizedDescriptionKey: "Mine"])
        #expect(own.localizedDescription == "Mine")
        #expect((own as any Error).localizedDescription == "Mine")
    }

    @Test("Errors can be compared and put into sets")
    func hashing() {
        #expect(CBError(.unknown) == CBError(.unknown))
        #expect(CBError(.unknown) != CBError(.notConnected))
        #expect(CBError(.unknown) != CBError(.unknown, userInfo: ["key": 1]))
        #expect(Set([CBError(.unknown), CBError(.unknown), CBError(.notConnected)]).count == 2)
        #expect(Set([CBATTError(.success), CBATTError(.success)]).count == 1)
    }

    @Test("The misspelled old name is the same code")
    @available(*, deprecated)
    func oldName() { #expect(CBError.Code.unkownDevice == .unknownDevice) }
}
