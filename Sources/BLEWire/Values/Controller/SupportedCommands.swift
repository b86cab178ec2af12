/// The commands that a controller supports: 64 octets, one bit per command.
///
/// Core 6.0, Vol 4, Part E, 6.27.
package struct SupportedCommands: Hashable, Sendable {
    /// The 64 octets in wire order.
    package private(set) var octets: [UInt8]

    /// Creates an empty set.
    package init() { octets = [UInt8](repeating: 0, count: Self.size) }

    /// Creates a set of commands; commands for which the specification has no bit are ignored.
    package init(_ opcodes: [HCI.Opcode]) {
        self.init()
        for opcode in opcodes { insert(opcode) }
    }

    /// Creates a set from 64 octets; returns `nil` for any other count.
    package init?(octets: [UInt8]) {
        guard octets.count == Self.size else { return nil }
        self.octets = octets
    }

    static let size = 64

    /// Returns whether the controller supports a command; `false` for commands for which the specification has no bit.
    package func contains(_ opcode: HCI.Opcode) -> Bool {
        guard let (octet, bit) = Self.position(of: opcode) else { return false }
        return octets[octet] >> bit & 1 == 1
    }

    /// Adds a command; has no effect if the specification has no bit for it.
    package mutating func insert(_ opcode: HCI.Opcode) {
        guard let (octet, bit) = Self.position(of: opcode) else { return }
        octets[octet] |= 1 << bit
    }

    /// Removes a command from the set.
    package mutating func remove(_ opcode: HCI.Opcode) {
        guard let (octet, bit) = Self.position(of: opcode) else { return }
        octets[octet] &= ~(1 << bit)
    }

    private static func position(of opcode: HCI.Opcode) -> (octet: Int, bit: UInt8)? {
        positions.first { $0.opcode == opcode }.map { ($0.octet, $0.bit) }
    }

    private static let positions: [(opcode: HCI.Opcode, octet: Int, bit: UInt8)] = [
        (.disconnect, 0, 5),
        (.readRemoteVersionInformation, 2, 7),
        (.setEventMask, 5, 6),
        (.reset, 5, 7),
        (.readTransmitPowerLevel, 10, 2),
        (.setControllerToHostFlowControl, 10, 5),
        (.hostBufferSize, 10, 6),
        (.hostNumberOfCompletedPackets, 10, 7),
        (.readLocalVersionInformation, 14, 3),
        (.readLocalSupportedCommands, 14, 4),
        (.readLocalSupportedFeatures, 14, 5),
        (.readBufferSize, 14, 7),
        (.readBDADDR, 15, 1),
        (.readRSSI, 15, 5),
        (.setEventMaskPage2, 22, 2),
        (.readLEHostSupport, 24, 5),
        (.writeLEHostSupport, 24, 6),
        (.leSetEventMask, 25, 0),
        (.leReadBufferSize, 25, 1),
        (.leReadLocalSupportedFeatures, 25, 2),
        (.leSetRandomAddress, 25, 4),
        (.leSetAdvertisingParameters, 25, 5),
        (.leReadAdvertisingTransmitPower, 25, 6),
        (.leSetAdvertisingData, 25, 7),
        (.leSetScanResponseData, 26, 0),
        (.leSetAdvertisingEnable, 26, 1),
        (.leSetScanParameters, 26, 2),
        (.leSetScanEnable, 26, 3),
        (.leCreateConnection, 26, 4),
        (.leCreateConnectionCancel, 26, 5),
        (.leReadFilterAcceptListSize, 26, 6),
        (.leClearFilterAcceptList, 26, 7),
        (.leAddDeviceToFilterAcceptList, 27, 0),
        (.leRemoveDeviceFromFilterAcceptList, 27, 1),
        (.leConnectionUpdate, 27, 2),
        (.leSetHostChannelClassification, 27, 3),
        (.leReadChannelMap, 27, 4),
        (.leReadRemoteFeatures, 27, 5),
        (.leEncrypt, 27, 6),
        (.leRand, 27, 7),
        (.leEnableEncryption, 28, 0),
        (.leLongTermKeyRequestReply, 28, 1),
        (.leLongTermKeyRequestNegativeReply, 28, 2),
        (.leReadSupportedStates, 28, 3),
        (.readAuthenticatedPayloadTimeout, 32, 4),
        (.writeAuthenticatedPayloadTimeout, 32, 5),
        (.leRemoteConnectionParameterRequestReply, 33, 4),
        (.leRemoteConnectionParameterRequestNegativeReply, 33, 5),
        (.leSetDataLength, 33, 6),
        (.leReadSuggestedDefaultDataLength, 33, 7),
        (.leWriteSuggestedDefaultDataLength, 34, 0),
        (.leReadLocalP256PublicKey, 34, 1),
        (.leGenerateDHKey, 34, 2),
        (.leAddDeviceToResolvingList, 34, 3),
        (.leRemoveDeviceFromResolvingList, 34, 4),
        (.leClearResolvingList, 34, 5),
        (.leReadResolvingListSize, 34, 6),
        (.leReadPeerResolvableAddress, 34, 7),
        (.leReadLocalResolvableAddress, 35, 0),
        (.leSetAddressResolutionEnable, 35, 1),
        (.leSetResolvablePrivateAddressTimeout, 35, 2),
        (.leReadMaximumDataLength, 35, 3),
        (.leReadPHY, 35, 4),
        (.leSetDefaultPHY, 35, 5),
        (.leSetPHY, 35, 6),
        (.leSetAdvertisingSetRandomAddress, 36, 1),
        (.leSetExtendedAdvertisingParameters, 36, 2),
        (.leSetExtendedAdvertisingData, 36, 3),
        (.leSetExtendedScanResponseData, 36, 4),
        (.leSetExtendedAdvertisingEnable, 36, 5),
        (.leReadMaximumAdvertisingDataLength, 36, 6),
        (.leReadNumberOfSupportedAdvertisingSets, 36, 7),
        (.leRemoveAdvertisingSet, 37, 0),
        (.leClearAdvertisingSets, 37, 1),
        (.leSetExtendedScanParameters, 37, 5),
        (.leSetExtendedScanEnable, 37, 6),
        (.leExtendedCreateConnection, 37, 7),
        (.leReadTransmitPower, 38, 7),
        (.leReadRFPathCompensation, 39, 0),
        (.leWriteRFPathCompensation, 39, 1),
        (.leSetPrivacyMode, 39, 2),
        (.leGenerateDHKeyV2, 41, 2),
        (.leReadBufferSizeV2, 41, 5),
        (.leSetHostFeature, 44, 1),
        (.leSetTransmitPowerReportingEnable, 44, 7),
    ]
}

extension SupportedCommands: CustomStringConvertible {
    /// The names of the supported commands that this module declares.
    package var description: String {
        Self.positions.filter { contains($0.opcode) }.map(\.opcode.description).joined(separator: ", ")
    }
}

extension Wire where Self: ~Copyable & ~Escapable {
    /// Visits the 64 octets of a set of commands.
    @_lifetime(self: copy self)
    package mutating func supportedCommands(
        _ value: inout SupportedCommands,
        _ name: StaticString
    ) throws(PacketError) {
        var octets = value.octets
        try bytes(&octets, count: SupportedCommands.size, name)
        guard let decoded = SupportedCommands(octets: octets) else { throw .truncated(field: name) }
        value = decoded
    }
}
