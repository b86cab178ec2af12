extension HCI {
    /// The opcode of an HCI command: the command in the lower ten bits (OCF), its group in the upper six (OGF).
    ///
    /// Unknown opcodes are kept. Core 6.0, Vol 4, Part E, 5.4.1.
    package struct Opcode: WireField, Hashable {
        package let wire: UInt16
        package init(wire: UInt16) { self.wire = wire }

        /// The opcode for no command.
        ///
        /// Controllers use it in an event that only updates the number of commands that the host may send.
        package static let none = Self(wire: 0x0000)
        package static let disconnect = Self(wire: 0x0406)
        package static let readRemoteVersionInformation = Self(wire: 0x041D)
        package static let setEventMask = Self(wire: 0x0C01)
        package static let reset = Self(wire: 0x0C03)
        package static let readTransmitPowerLevel = Self(wire: 0x0C2D)
        package static let setControllerToHostFlowControl = Self(wire: 0x0C31)
        package static let hostBufferSize = Self(wire: 0x0C33)
        package static let hostNumberOfCompletedPackets = Self(wire: 0x0C35)
        package static let setEventMaskPage2 = Self(wire: 0x0C63)
        package static let readLEHostSupport = Self(wire: 0x0C6C)
        package static let writeLEHostSupport = Self(wire: 0x0C6D)
        package static let readAuthenticatedPayloadTimeout = Self(wire: 0x0C7B)
        package static let writeAuthenticatedPayloadTimeout = Self(wire: 0x0C7C)
        package static let readLocalVersionInformation = Self(wire: 0x1001)
        package static let readLocalSupportedCommands = Self(wire: 0x1002)
        package static let readLocalSupportedFeatures = Self(wire: 0x1003)
        package static let readBufferSize = Self(wire: 0x1005)
        package static let readBDADDR = Self(wire: 0x1009)
        package static let readRSSI = Self(wire: 0x1405)
        package static let leSetEventMask = Self(wire: 0x2001)
        package static let leReadBufferSize = Self(wire: 0x2002)
        package static let leReadLocalSupportedFeatures = Self(wire: 0x2003)
        package static let leSetRandomAddress = Self(wire: 0x2005)
        package static let leSetAdvertisingParameters = Self(wire: 0x2006)
        package static let leReadAdvertisingTransmitPower = Self(wire: 0x2007)
        package static let leSetAdvertisingData = Self(wire: 0x2008)
        package static let leSetScanResponseData = Self(wire: 0x2009)
        package static let leSetAdvertisingEnable = Self(wire: 0x200A)
        package static let leSetScanParameters = Self(wire: 0x200B)
        package static let leSetScanEnable = Self(wire: 0x200C)
        package static let leCreateConnection = Self(wire: 0x200D)
        package static let leCreateConnectionCancel = Self(wire: 0x200E)
        package static let leReadFilterAcceptListSize = Self(wire: 0x200F)
        package static let leClearFilterAcceptList = Self(wire: 0x2010)
        package static let leAddDeviceToFilterAcceptList = Self(wire: 0x2011)
        package static let leRemoveDeviceFromFilterAcceptList = Self(wire: 0x2012)
        package static let leConnectionUpdate = Self(wire: 0x2013)
        package static let leSetHostChannelClassification = Self(wire: 0x2014)
        package static let leReadChannelMap = Self(wire: 0x2015)
        package static let leReadRemoteFeatures = Self(wire: 0x2016)
        package static let leEncrypt = Self(wire: 0x2017)
        package static let leRand = Self(wire: 0x2018)
        package static let leEnableEncryption = Self(wire: 0x2019)
        package static let leLongTermKeyRequestReply = Self(wire: 0x201A)
        package static let leLongTermKeyRequestNegativeReply = Self(wire: 0x201B)
        package static let leReadSupportedStates = Self(wire: 0x201C)
        package static let leRemoteConnectionParameterRequestReply = Self(wire: 0x2020)
        package static let leRemoteConnectionParameterRequestNegativeReply = Self(wire: 0x2021)
        package static let leSetDataLength = Self(wire: 0x2022)
        package static let leReadSuggestedDefaultDataLength = Self(wire: 0x2023)
        package static let leWriteSuggestedDefaultDataLength = Self(wire: 0x2024)
        package static let leReadLocalP256PublicKey = Self(wire: 0x2025)
        package static let leGenerateDHKey = Self(wire: 0x2026)
        package static let leAddDeviceToResolvingList = Self(wire: 0x2027)
        package static let leRemoveDeviceFromResolvingList = Self(wire: 0x2028)
        package static let leClearResolvingList = Self(wire: 0x2029)
        package static let leReadResolvingListSize = Self(wire: 0x202A)
        package static let leReadPeerResolvableAddress = Self(wire: 0x202B)
        package static let leReadLocalResolvableAddress = Self(wire: 0x202C)
        package static let leSetAddressResolutionEnable = Self(wire: 0x202D)
        package static let leSetResolvablePrivateAddressTimeout = Self(wire: 0x202E)
        package static let leReadMaximumDataLength = Self(wire: 0x202F)
        package static let leReadPHY = Self(wire: 0x2030)
        package static let leSetDefaultPHY = Self(wire: 0x2031)
        package static let leSetPHY = Self(wire: 0x2032)
        package static let leSetAdvertisingSetRandomAddress = Self(wire: 0x2035)
        package static let leSetExtendedAdvertisingParameters = Self(wire: 0x2036)
        package static let leSetExtendedAdvertisingData = Self(wire: 0x2037)
        package static let leSetExtendedScanResponseData = Self(wire: 0x2038)
        package static let leSetExtendedAdvertisingEnable = Self(wire: 0x2039)
        package static let leReadMaximumAdvertisingDataLength = Self(wire: 0x203A)
        package static let leReadNumberOfSupportedAdvertisingSets = Self(wire: 0x203B)
        package static let leRemoveAdvertisingSet = Self(wire: 0x203C)
        package static let leClearAdvertisingSets = Self(wire: 0x203D)
        package static let leSetExtendedScanParameters = Self(wire: 0x2041)
        package static let leSetExtendedScanEnable = Self(wire: 0x2042)
        package static let leExtendedCreateConnection = Self(wire: 0x2043)
        package static let leReadTransmitPower = Self(wire: 0x204B)
        package static let leReadRFPathCompensation = Self(wire: 0x204C)
        package static let leWriteRFPathCompensation = Self(wire: 0x204D)
        package static let leSetPrivacyMode = Self(wire: 0x204E)
        package static let leGenerateDHKeyV2 = Self(wire: 0x205E)
        package static let leReadBufferSizeV2 = Self(wire: 0x2060)
        package static let leSetHostFeature = Self(wire: 0x2074)
        package static let leSetTransmitPowerReportingEnable = Self(wire: 0x207A)
    }
}

extension HCI.Opcode: CustomStringConvertible {
    /// The command's name in the specification, or its code.
    package var description: String {
        if self == .none { return "NOP" }
        return Self.names.first { $0.opcode == self }?.name ?? "command 0x\(String(wire, radix: 16))"
    }

    private static let names: [(opcode: HCI.Opcode, name: String)] = [
        (.disconnect, "Disconnect"),
        (.readRemoteVersionInformation, "Read Remote Version Information"),
        (.setEventMask, "Set Event Mask"),
        (.reset, "Reset"),
        (.readTransmitPowerLevel, "Read Transmit Power Level"),
        (.setControllerToHostFlowControl, "Set Controller To Host Flow Control"),
        (.hostBufferSize, "Host Buffer Size"),
        (.hostNumberOfCompletedPackets, "Host Number Of Completed Packets"),
        (.setEventMaskPage2, "Set Event Mask Page 2"),
        (.readLEHostSupport, "Read LE Host Support"),
        (.writeLEHostSupport, "Write LE Host Support"),
        (.readAuthenticatedPayloadTimeout, "Read Authenticated Payload Timeout"),
        (.writeAuthenticatedPayloadTimeout, "Write Authenticated Payload Timeout"),
        (.readLocalVersionInformation, "Read Local Version Information"),
        (.readLocalSupportedCommands, "Read Local Supported Commands"),
        (.readLocalSupportedFeatures, "Read Local Supported Features"),
        (.readBufferSize, "Read Buffer Size"),
        (.readBDADDR, "Read BD_ADDR"),
        (.readRSSI, "Read RSSI"),
        (.leSetEventMask, "LE Set Event Mask"),
        (.leReadBufferSize, "LE Read Buffer Size [v1]"),
        (.leReadLocalSupportedFeatures, "LE Read Local Supported Features Page 0"),
        (.leSetRandomAddress, "LE Set Random Address"),
        (.leSetAdvertisingParameters, "LE Set Advertising Parameters"),
        (.leReadAdvertisingTransmitPower, "LE Read Advertising Physical Channel Tx Power"),
        (.leSetAdvertisingData, "LE Set Advertising Data"),
        (.leSetScanResponseData, "LE Set Scan Response Data"),
        (.leSetAdvertisingEnable, "LE Set Advertising Enable"),
        (.leSetScanParameters, "LE Set Scan Parameters"),
        (.leSetScanEnable, "LE Set Scan Enable"),
        (.leCreateConnection, "LE Create Connection"),
        (.leCreateConnectionCancel, "LE Create Connection Cancel"),
        (.leReadFilterAcceptListSize, "LE Read Filter Accept List Size"),
        (.leClearFilterAcceptList, "LE Clear Filter Accept List"),
        (.leAddDeviceToFilterAcceptList, "LE Add Device To Filter Accept List"),
        (.leRemoveDeviceFromFilterAcceptList, "LE Remove Device From Filter Accept List"),
        (.leConnectionUpdate, "LE Connection Update"),
        (.leSetHostChannelClassification, "LE Set Host Channel Classification"),
        (.leReadChannelMap, "LE Read Channel Map"),
        (.leReadRemoteFeatures, "LE Read Remote Features Page 0"),
        (.leEncrypt, "LE Encrypt"),
        (.leRand, "LE Rand"),
        (.leEnableEncryption, "LE Enable Encryption"),
        (.leLongTermKeyRequestReply, "LE Long Term Key Request Reply"),
        (.leLongTermKeyRequestNegativeReply, "LE Long Term Key Request Negative Reply"),
        (.leReadSupportedStates, "LE Read Supported States"),
        (.leRemoteConnectionParameterRequestReply, "LE Remote Connection Parameter Request Reply"),
        (.leRemoteConnectionParameterRequestNegativeReply, "LE Remote Connection Parameter Request Negative Reply"),
        (.leSetDataLength, "LE Set Data Length"),
        (.leReadSuggestedDefaultDataLength, "LE Read Suggested Default Data Length"),
        (.leWriteSuggestedDefaultDataLength, "LE Write Suggested Default Data Length"),
        (.leReadLocalP256PublicKey, "LE Read Local P-256 Public Key"),
        (.leGenerateDHKey, "LE Generate DHKey [v1]"),
        (.leAddDeviceToResolvingList, "LE Add Device To Resolving List"),
        (.leRemoveDeviceFromResolvingList, "LE Remove Device From Resolving List"),
        (.leClearResolvingList, "LE Clear Resolving List"),
        (.leReadResolvingListSize, "LE Read Resolving List Size"),
        (.leReadPeerResolvableAddress, "LE Read Peer Resolvable Address"),
        (.leReadLocalResolvableAddress, "LE Read Local Resolvable Address"),
        (.leSetAddressResolutionEnable, "LE Set Address Resolution Enable"),
        (.leSetResolvablePrivateAddressTimeout, "LE Set Resolvable Private Address Timeout [v1]"),
        (.leReadMaximumDataLength, "LE Read Maximum Data Length"),
        (.leReadPHY, "LE Read PHY"),
        (.leSetDefaultPHY, "LE Set Default PHY"),
        (.leSetPHY, "LE Set PHY"),
        (.leSetAdvertisingSetRandomAddress, "LE Set Advertising Set Random Address"),
        (.leSetExtendedAdvertisingParameters, "LE Set Extended Advertising Parameters [v1]"),
        (.leSetExtendedAdvertisingData, "LE Set Extended Advertising Data"),
        (.leSetExtendedScanResponseData, "LE Set Extended Scan Response Data"),
        (.leSetExtendedAdvertisingEnable, "LE Set Extended Advertising Enable"),
        (.leReadMaximumAdvertisingDataLength, "LE Read Maximum Advertising Data Length"),
        (.leReadNumberOfSupportedAdvertisingSets, "LE Read Number of Supported Advertising Sets"),
        (.leRemoveAdvertisingSet, "LE Remove Advertising Set"),
        (.leClearAdvertisingSets, "LE Clear Advertising Sets"),
        (.leSetExtendedScanParameters, "LE Set Extended Scan Parameters"),
        (.leSetExtendedScanEnable, "LE Set Extended Scan Enable"),
        (.leExtendedCreateConnection, "LE Extended Create Connection [v1]"),
        (.leReadTransmitPower, "LE Read Transmit Power"),
        (.leReadRFPathCompensation, "LE Read RF Path Compensation"),
        (.leWriteRFPathCompensation, "LE Write RF Path Compensation"),
        (.leSetPrivacyMode, "LE Set Privacy Mode"),
        (.leGenerateDHKeyV2, "LE Generate DHKey [v2]"),
        (.leReadBufferSizeV2, "LE Read Buffer Size [v2]"),
        (.leSetHostFeature, "LE Set Host Feature [v1]"),
        (.leSetTransmitPowerReportingEnable, "LE Set Transmit Power Reporting Enable"),
    ]
}
