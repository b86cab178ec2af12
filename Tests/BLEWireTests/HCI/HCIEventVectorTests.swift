import BLEWire
import Testing

/// Octets that follow from the field tables of Core 6.0, Vol 4, Part E, 7.7.
@Suite("HCI: event test vectors")
struct HCIEventVectorTests {
    /// An event, and the octets of it with the packet indicator.
    struct Vector: Sendable, CustomTestStringConvertible {
        let packet: HCIEventPacket
        let octets: [UInt8]
        var testDescription: String { packet.subevent?.description ?? packet.code.description }
    }

    private static let peer = DeviceAddress(0x0605_0403_0201, .random)
    private static let handle = ConnectionHandle(wire: 0x0040) ?? .lowest

    private static let vectors: [Vector] = [
        Vector(
            packet: .disconnectionComplete(.init(status: .success, handle: handle, reason: .connectionTimeout)),
            octets: [0x04, 0x05, 0x04, 0x00, 0x40, 0x00, 0x08]
        ),
        Vector(
            packet: .commandComplete(.init(HCI.Reset.self, returning: .init(status: .success))),
            octets: [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
        ),
        Vector(
            packet: .commandStatus(.init(status: .commandDisallowed, allowed: 3, opcode: .leCreateConnection)),
            octets: [0x04, 0x0F, 0x04, 0x0C, 0x03, 0x0D, 0x20]
        ),
        Vector(
            packet: .numberOfCompletedPackets(
                .init(completed: [.init(handle: handle, count: 1), .init(handle: .lowest, count: 0x0102)])
            ),
            octets: [0x04, 0x13, 0x09, 0x02, 0x40, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x01]
        ),
        Vector(
            packet: .leAdvertisingReport(
                .init(reports: [
                    .init(type: .connectable, address: peer, data: [0x02, 0x01, 0x06], rssi: RSSI(dBm: -60)),
                    .init(type: .scanResponse, address: peer, data: [], rssi: .unavailable),
                ])
            ),
            octets: [
                0x04, 0x3E, 0x19, 0x02, 0x02, 0x00, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x03, 0x02, 0x01, 0x06,
                0xC4, 0x04, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x00, 0x7F,
            ]
        ),
        Vector(
            packet: .leExtendedAdvertisingReport(
                .init(reports: [
                    .init(
                        type: .init([.connectable], data: .incomplete),
                        address: peer,
                        primaryPHY: .leCoded,
                        secondaryPHY: .le2M,
                        sid: AdvertisingSID(wire: 3),
                        power: TransmitPower(dBm: 4),
                        rssi: RSSI(dBm: -70),
                        data: [0xAA]
                    )
                ])
            ),
            octets: [
                0x04, 0x3E, 0x1B, 0x0D, 0x01, 0x21, 0x00, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x03, 0x02, 0x03,
                0x04, 0xBA, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0xAA,
            ]
        ),
        Vector(
            packet: .leDataLengthChange(
                .init(
                    handle: handle,
                    transmitOctets: 251,
                    transmitTime: 2120,
                    receiveOctets: 27,
                    receiveTime: 328
                )
            ),
            octets: [0x04, 0x3E, 0x0B, 0x07, 0x40, 0x00, 0xFB, 0x00, 0x48, 0x08, 0x1B, 0x00, 0x48, 0x01]
        ),
        Vector(
            packet: .lePHYUpdateComplete(
                .init(status: .success, handle: handle, transmit: .le2M, receive: .leCoded)
            ),
            octets: [0x04, 0x3E, 0x06, 0x0C, 0x00, 0x40, 0x00, 0x02, 0x03]
        ),
        Vector(
            packet: .leReadRemoteFeaturesComplete(
                .init(status: .success, handle: handle, features: [.encryption, .phy2M])
            ),
            octets: [0x04, 0x3E, 0x0C, 0x04, 0x00, 0x40, 0x00, 0x01, 0x01, 0, 0, 0, 0, 0, 0]
        ),
        Vector(
            packet: .encryptionChangeV2(.init(status: .success, handle: handle, encryption: .on, keySize: 16)),
            octets: [0x04, 0x59, 0x05, 0x00, 0x40, 0x00, 0x01, 0x10]
        ),
        Vector(packet: .leScanTimeout, octets: [0x04, 0x3E, 0x01, 0x11]),
    ]

    @Test("An event encodes to the known octets and decodes from them", arguments: vectors)
    func bothWays(_ vector: Vector) throws {
        #expect(vector.packet.encoded == vector.octets)
        #expect(try HCIEventPacket(decoding: Array(vector.octets.dropFirst())) == vector.packet)
    }

    @Test("The fields of LE Connection Complete are in the order of the table")
    func connectionComplete() throws {
        let octets: [UInt8] = [
            0x04, 0x3E, 0x13, 0x01, 0x00, 0x40, 0x00, 0x01, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x18, 0x00, 0x04,
            0x00, 0xC8, 0x00, 0x05,
        ]
        let packet = try HCIEventPacket(decoding: Array(octets.dropFirst()))
        guard case .leConnectionComplete(let event) = packet else {
            Issue.record("decoded \(packet)")
            return
        }
        #expect(event.status == .success)
        #expect(event.handle == Self.handle)
        #expect(event.role == .peripheral)
        #expect(event.peer == Self.peer)
        #expect(event.interval.value?.duration == .milliseconds(30))
        #expect(event.latency.value?.wire == 4)
        #expect(event.timeout.value?.duration == .seconds(2))
        #expect(event.clockAccuracy.partsPerMillion == 50)
        #expect(packet.encoded == octets)
    }

    @Test(
        "The event of a failed connection decodes, whatever its other fields contain",
        arguments: [0x00, 0xFF] as [UInt8]
    )
    func failedConnection(filler: UInt8) throws {
        let octets: [UInt8] = [0x3E, 0x13, 0x01, 0x02] + [UInt8](repeating: filler, count: 17)
        guard case .leConnectionComplete(let event) = try HCIEventPacket(decoding: octets) else {
            Issue.record("not a connection")
            return
        }
        #expect(event.status == .unknownConnectionIdentifier)
        #expect(event.interval.value == nil)
        #expect(event.timeout.value == nil)
        #expect(event.handle == .lowest)
    }

    @Test("The event of a successful connection with a reserved handle is refused")
    func reservedHandle() {
        let octets: [UInt8] = [0x3E, 0x13, 0x01, 0x00] + [UInt8](repeating: 0xFF, count: 17)
        #expect(throws: PacketError.reserved(field: "Connection Handle")) { try HCIEventPacket(decoding: octets) }
    }

    @Test("Command Complete contains the status and the command's return parameters")
    func commandComplete() throws {
        let octets: [UInt8] = [0x0E, 0x07, 0x01, 0x02, 0x20, 0x00, 0xFB, 0x00, 0x0C]
        guard case .commandComplete(let event) = try HCIEventPacket(decoding: octets) else {
            Issue.record("not a completion")
            return
        }
        #expect(event.status == .success)
        let returned = try event.returned(by: HCI.LEReadBufferSize.self)
        #expect(returned == .init(status: .success, aclLength: 251, aclCount: 12))
        #expect(throws: PacketError.unknown(code: 0x2002)) { try event.returned(by: HCI.LERand.self) }
        #expect(event == HCI.CommandComplete(HCI.LEReadBufferSize.self, returning: returned))
    }

    @Test("Command Complete of a failed command may end after the status")
    func shortFailure() throws {
        guard case .commandComplete(let event) = try HCIEventPacket(decoding: [0x0E, 0x04, 0x01, 0x18, 0x20, 0x01])
        else {
            Issue.record("not a completion")
            return
        }
        #expect(event.status == .unknownCommand)
        #expect(throws: PacketError.truncated(field: "Random Number")) { try event.returned(by: HCI.LERand.self) }
        #expect(HCI.CommandComplete().status == nil)
    }
}
