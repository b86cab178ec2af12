extension HCI {
    /// The code of an HCI event.
    ///
    /// Unknown codes are kept. Core 6.0, Vol 4, Part E, 7.7.
    package struct EventCode: WireField, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let disconnectionComplete = Self(wire: 0x05)
        package static let encryptionChange = Self(wire: 0x08)
        package static let readRemoteVersionInformationComplete = Self(wire: 0x0C)
        package static let commandComplete = Self(wire: 0x0E)
        package static let commandStatus = Self(wire: 0x0F)
        package static let hardwareError = Self(wire: 0x10)
        package static let numberOfCompletedPackets = Self(wire: 0x13)
        package static let dataBufferOverflow = Self(wire: 0x1A)
        package static let encryptionKeyRefreshComplete = Self(wire: 0x30)
        package static let leMeta = Self(wire: 0x3E)
        package static let authenticatedPayloadTimeoutExpired = Self(wire: 0x57)
        package static let encryptionChangeV2 = Self(wire: 0x59)
    }
}

extension HCI.EventCode: CustomStringConvertible {
    /// The event's name in the specification, or its code.
    package var description: String {
        switch self {
        case .disconnectionComplete: "Disconnection Complete"
        case .encryptionChange: "Encryption Change [v1]"
        case .readRemoteVersionInformationComplete: "Read Remote Version Information Complete"
        case .commandComplete: "Command Complete"
        case .commandStatus: "Command Status"
        case .hardwareError: "Hardware Error"
        case .numberOfCompletedPackets: "Number Of Completed Packets"
        case .dataBufferOverflow: "Data Buffer Overflow"
        case .encryptionKeyRefreshComplete: "Encryption Key Refresh Complete"
        case .leMeta: "LE Meta"
        case .authenticatedPayloadTimeoutExpired: "Authenticated Payload Timeout Expired"
        case .encryptionChangeV2: "Encryption Change [v2]"
        default: "event 0x\(String(wire, radix: 16))"
        }
    }
}

extension HCI {
    /// The subevent code of an LE event: the first parameter of LE Meta events.
    ///
    /// Unknown codes are kept. Core 6.0, Vol 4, Part E, 7.7.65.
    package struct LESubevent: WireField, Hashable {
        package let wire: UInt8
        package init(wire: UInt8) { self.wire = wire }

        package static let connectionComplete = Self(wire: 0x01)
        package static let advertisingReport = Self(wire: 0x02)
        package static let connectionUpdateComplete = Self(wire: 0x03)
        package static let readRemoteFeaturesComplete = Self(wire: 0x04)
        package static let longTermKeyRequest = Self(wire: 0x05)
        package static let remoteConnectionParameterRequest = Self(wire: 0x06)
        package static let dataLengthChange = Self(wire: 0x07)
        package static let readLocalP256PublicKeyComplete = Self(wire: 0x08)
        package static let generateDHKeyComplete = Self(wire: 0x09)
        package static let enhancedConnectionComplete = Self(wire: 0x0A)
        package static let directedAdvertisingReport = Self(wire: 0x0B)
        package static let phyUpdateComplete = Self(wire: 0x0C)
        package static let extendedAdvertisingReport = Self(wire: 0x0D)
        package static let scanTimeout = Self(wire: 0x11)
        package static let advertisingSetTerminated = Self(wire: 0x12)
        package static let scanRequestReceived = Self(wire: 0x13)
        package static let channelSelectionAlgorithm = Self(wire: 0x14)
        package static let transmitPowerReporting = Self(wire: 0x21)
    }
}

extension HCI.LESubevent: CustomStringConvertible {
    /// The event's name in the specification, or its code.
    package var description: String {
        switch self {
        case .connectionComplete: "LE Connection Complete"
        case .advertisingReport: "LE Advertising Report"
        case .connectionUpdateComplete: "LE Connection Update Complete"
        case .readRemoteFeaturesComplete: "LE Read Remote Features Page 0 Complete"
        case .longTermKeyRequest: "LE Long Term Key Request"
        case .remoteConnectionParameterRequest: "LE Remote Connection Parameter Request"
        case .dataLengthChange: "LE Data Length Change"
        case .readLocalP256PublicKeyComplete: "LE Read Local P-256 Public Key Complete"
        case .generateDHKeyComplete: "LE Generate DHKey Complete"
        case .enhancedConnectionComplete: "LE Enhanced Connection Complete [v1]"
        case .directedAdvertisingReport: "LE Directed Advertising Report"
        case .phyUpdateComplete: "LE PHY Update Complete"
        case .extendedAdvertisingReport: "LE Extended Advertising Report"
        case .scanTimeout: "LE Scan Timeout"
        case .advertisingSetTerminated: "LE Advertising Set Terminated"
        case .scanRequestReceived: "LE Scan Request Received"
        case .channelSelectionAlgorithm: "LE Channel Selection Algorithm"
        case .transmitPowerReporting: "LE Transmit Power Reporting"
        default: "LE event 0x\(String(wire, radix: 16))"
        }
    }
}
