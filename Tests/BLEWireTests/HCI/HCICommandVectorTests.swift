import BLEWire
import Testing

/// Octets that follow from the field tables of Core 6.0, Vol 4, Part E, 7.
@Suite("HCI: command test vectors")
struct HCICommandVectorTests {
    /// A command, and the octets of it with the packet indicator.
    struct Vector: Sendable, CustomTestStringConvertible {
        let packet: HCICommandPacket
        let octets: [UInt8]
        var testDescription: String { packet.opcode.description }
    }

    private static let peer = DeviceAddress(0x0605_0403_0201, .random)
    private static let handle = ConnectionHandle(wire: 0x0040) ?? .lowest

    private static func parameters(_ minimum: UInt16, _ maximum: UInt16) throws -> HCI.ConnectionParameters {
        HCI.ConnectionParameters(
            minimum: try #require(ConnectionInterval(wire: minimum)),
            maximum: try #require(ConnectionInterval(wire: maximum)),
            latency: try #require(PeripheralLatency(wire: 4)),
            timeout: SupervisionTimeout(.seconds(2)),
            minimumEventLength: .any,
            maximumEventLength: ConnectionEventLength(wire: 8)
        )
    }

    private static let vectors: [Vector] = [
        Vector(
            packet: .leGenerateDHKeyV2(.init(key: .init(), type: .debug)),
            octets: [0x01, 0x5E, 0x20, 0x41] + [UInt8](repeating: 0, count: 64) + [0x01]
        ),
        Vector(packet: .reset, octets: [0x01, 0x03, 0x0C, 0x00]),
        Vector(
            packet: .setEventMask(.init(mask: [.disconnectionComplete, .hardwareError, .leMeta])),
            octets: [0x01, 0x01, 0x0C, 0x08, 0x10, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20]
        ),
        Vector(
            packet: .disconnect(.init(handle: handle, reason: .remoteUserTerminatedConnection)),
            octets: [0x01, 0x06, 0x04, 0x03, 0x40, 0x00, 0x13]
        ),
        Vector(
            packet: .hostNumberOfCompletedPackets(
                .init(completed: [.init(handle: handle, count: 2), .init(handle: .lowest, count: 1)])
            ),
            octets: [0x01, 0x35, 0x0C, 0x09, 0x02, 0x40, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x00]
        ),
        Vector(
            packet: .leSetAdvertisingParameters(
                .init(
                    minimum: AdvertisingInterval(.milliseconds(100)),
                    maximum: AdvertisingInterval(.milliseconds(150)),
                    type: .connectable,
                    ownAddress: .random,
                    peer: .none,
                    channels: .all,
                    policy: .everyone
                )
            ),
            octets: [
                0x01, 0x06, 0x20, 0x0F, 0xA0, 0x00, 0xF0, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                0x07, 0x00,
            ]
        ),
        Vector(
            packet: .leSetAdvertisingData(.init(data: [0x02, 0x01, 0x06])),
            octets: [0x01, 0x08, 0x20, 0x20, 0x03, 0x02, 0x01, 0x06] + [UInt8](repeating: 0, count: 28)
        ),
        Vector(
            packet: .leSetScanParameters(
                .init(
                    type: .active,
                    interval: ScanInterval(.milliseconds(60)),
                    window: ScanInterval(.milliseconds(30)),
                    ownAddress: .resolvableOrRandom,
                    policy: .acceptList
                )
            ),
            octets: [0x01, 0x0B, 0x20, 0x07, 0x01, 0x60, 0x00, 0x30, 0x00, 0x03, 0x01]
        ),
        Vector(
            packet: .leSetScanEnable(.init(enable: true, filterDuplicates: false)),
            octets: [0x01, 0x0C, 0x20, 0x02, 0x01, 0x00]
        ),
        Vector(
            packet: .leAddDeviceToFilterAcceptList(.init(address: peer)),
            octets: [0x01, 0x11, 0x20, 0x07, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06]
        ),
        Vector(
            packet: .leSetDataLength(.init(handle: handle, octets: 251, time: 2120)),
            octets: [0x01, 0x22, 0x20, 0x06, 0x40, 0x00, 0xFB, 0x00, 0x48, 0x08]
        ),
        Vector(
            packet: .leSetPHY(.init(handle: handle, transmit: .le2M, receive: [.le1M, .le2M])),
            octets: [0x01, 0x32, 0x20, 0x07, 0x40, 0x00, 0x00, 0x02, 0x03, 0x00, 0x00]
        ),
        Vector(
            packet: .leSetExtendedAdvertisingEnable(
                .init(
                    enable: true,
                    sets: [.init(set: .first, duration: EnableDuration(wire: 0x0102), maximumEvents: 3)]
                )
            ),
            octets: [0x01, 0x39, 0x20, 0x06, 0x01, 0x01, 0x00, 0x02, 0x01, 0x03]
        ),
        Vector(
            packet: .leSetExtendedAdvertisingData(.init(set: .first, operation: .last, data: [0xAA, 0xBB])),
            octets: [0x01, 0x37, 0x20, 0x06, 0x00, 0x02, 0x00, 0x02, 0xAA, 0xBB]
        ),
        Vector(
            packet: .leWriteRFPathCompensation(.init(transmit: -10, receive: 20)),
            octets: [0x01, 0x4D, 0x20, 0x04, 0xF6, 0xFF, 0x14, 0x00]
        ),
    ]

    @Test("A command encodes to the known octets and decodes from them", arguments: vectors)
    func bothWays(_ vector: Vector) throws {
        #expect(vector.packet.encoded == vector.octets)
        #expect(try HCICommandPacket(decoding: Array(vector.octets.dropFirst())) == vector.packet)
    }

    @Test("The fields of LE Create Connection are in the order of the table")
    func createConnection() throws {
        let packet = HCICommandPacket.leCreateConnection(
            .init(
                interval: ScanInterval(.milliseconds(60)),
                window: ScanInterval(.milliseconds(60)),
                peer: Self.peer,
                ownAddress: .public,
                parameters: try Self.parameters(0x18, 0x28)
            )
        )
        let octets: [UInt8] = [
            0x01, 0x0D, 0x20, 0x19, 0x60, 0x00, 0x60, 0x00, 0x00, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x00, 0x18,
            0x00, 0x28, 0x00, 0x04, 0x00, 0xC8, 0x00, 0x00, 0x00, 0x08, 0x00,
        ]
        #expect(packet.encoded == octets)
        #expect(try HCICommandPacket(decoding: Array(octets.dropFirst())) == packet)
    }

    @Test("LE Set Extended Scan Parameters contains the parameters of exactly the selected PHYs")
    func extendedScan() throws {
        let scan = HCI.LESetExtendedScanParameters.Scan(
            type: .active,
            interval: ScanInterval(.milliseconds(10)),
            window: ScanInterval(.milliseconds(5))
        )
        let both = HCICommandPacket.leSetExtendedScanParameters(.init(ownAddress: .random, le1M: scan, leCoded: scan))
        let entry: [UInt8] = [0x01, 0x10, 0x00, 0x08, 0x00]
        #expect(both.encoded == [0x01, 0x41, 0x20, 0x0D, 0x01, 0x00, 0x05] + entry + entry)
        let coded = HCICommandPacket.leSetExtendedScanParameters(.init(le1M: nil, leCoded: scan))
        #expect(coded.encoded == [0x01, 0x41, 0x20, 0x08, 0x00, 0x00, 0x04] + entry)
        #expect(try HCICommandPacket(decoding: Array(coded.encoded.dropFirst())) == coded)
        #expect(throws: PacketError.reserved(field: "Scanning PHYs")) {
            try HCICommandPacket(decoding: [0x41, 0x20, 0x08, 0x00, 0x00, 0x02] + entry)
        }
    }

    @Test("LE Extended Create Connection contains the parameters of each selected PHY, in order")
    func extendedConnection() throws {
        let first = HCI.LEExtendedCreateConnection.Initiation(
            interval: .standard,
            window: .standard,
            parameters: try Self.parameters(0x18, 0x28)
        )
        let second = HCI.LEExtendedCreateConnection.Initiation(
            interval: .standard,
            window: .standard,
            parameters: try Self.parameters(0x06, 0x06)
        )
        let packet = HCICommandPacket.leExtendedCreateConnection(.init(peer: Self.peer, le1M: first, leCoded: second))
        let tail: [UInt8] = [0x04, 0x00, 0xC8, 0x00, 0x00, 0x00, 0x08, 0x00]
        let head: [UInt8] = [0x01, 0x43, 0x20, 0x2A, 0x00, 0x00, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x05]
        let octets =
            head + [0x10, 0x00, 0x10, 0x00, 0x18, 0x00, 0x28, 0x00] + tail
            + [0x10, 0x00, 0x10, 0x00, 0x06, 0x00, 0x06, 0x00] + tail
        #expect(packet.encoded == octets)
        #expect(try HCICommandPacket(decoding: Array(octets.dropFirst())) == packet)
    }

    @Test("LE Set Extended Advertising Parameters has intervals of three octets")
    func extendedAdvertising() throws {
        let packet = HCICommandPacket.leSetExtendedAdvertisingParameters(
            .init(
                set: .first,
                properties: [.connectable, .scannable, .legacy],
                minimum: ExtendedAdvertisingInterval(AdvertisingInterval(.milliseconds(100))),
                maximum: try #require(ExtendedAdvertisingInterval(wire: 0x01_0203)),
                power: TransmitPower(dBm: -8),
                sid: AdvertisingSID(wire: 2)
            )
        )
        let octets: [UInt8] = [
            0x01, 0x36, 0x20, 0x19, 0x00, 0x13, 0x00, 0xA0, 0x00, 0x00, 0x03, 0x02, 0x01, 0x07, 0x00, 0x00, 0x00, 0x00,
            0x00, 0x00, 0x00, 0x00, 0x00, 0xF8, 0x01, 0x00, 0x01, 0x02, 0x00,
        ]
        #expect(packet.encoded == octets)
        #expect(try HCICommandPacket(decoding: Array(octets.dropFirst())) == packet)
    }

    @Test("LE Set Advertising Data is refused if its length exceeds the limit")
    func advertisingDataTooLong() {
        let octets: [UInt8] = [0x08, 0x20, 0x20, 0x20] + [UInt8](repeating: 0, count: 31)
        #expect(throws: PacketError.reserved(field: "Advertising Data Length")) {
            try HCICommandPacket(decoding: octets)
        }
    }
}
