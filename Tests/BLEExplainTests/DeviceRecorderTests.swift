import BLERuntime
import BLEWire
import Testing

@testable import BLEExplain

@Suite("Devices in captures")
struct DeviceRecorderTests {
    private static let connection: [UInt8] = [
        4, 0x3E, 19, 1, 0, 0x40, 0, 0, 1, 1, 2, 3, 4, 5, 0xC6, 24, 0, 0, 0, 72, 0, 0,
    ]
    /// The discovery of a service FFE0 with the characteristics FFE1 and FFE2, and the read of one of them.
    private static let discovery: [(isFromHost: Bool, payload: [UInt8])] = [
        (true, [0x10, 1, 0, 255, 255, 0, 0x28]), (false, [0x11, 6, 1, 0, 9, 0, 0xE0, 0xFF]),
        (true, [0x08, 1, 0, 9, 0, 3, 0x28]),
        (false, [0x09, 7, 2, 0, 0x0A, 3, 0, 0xE1, 0xFF, 4, 0, 0x10, 5, 0, 0xE2, 0xFF]),
        (true, [0x04, 6, 0, 9, 0]), (false, [0x05, 1, 6, 0, 0x02, 0x29, 7, 0, 1, 0x29]),
        (true, [0x0A, 3, 0]), (false, [0x0B, 0xAA]), (true, [0x0C, 3, 0, 1, 0]), (false, [0x0D, 0xBB]),
        (true, [0x0A, 3, 0]), (false, [0x0B, 0xCC]),
    ]

    static func data(_ payload: [UInt8], isFromHost: Bool, at time: Int64) -> PacketRecord {
        let count = UInt8(payload.count)
        return PacketRecord(
            source: PacketSource(machine: "hci0"),
            direction: isFromHost ? .toController : .toHost,
            time: Instant(nanoseconds: time * 1_000_000),
            bytes: [2, 0x40, isFromHost ? 0 : 0x20, count + 4, 0, count, 0, 4, 0] + payload
        )
    }

    private static var records: [PacketRecord] {
        let start = PacketRecord(
            source: PacketSource(machine: "hci0"),
            direction: .toHost,
            time: Instant(),
            bytes: connection
        )
        return [start] + discovery.map { data($0.payload, isFromHost: $0.isFromHost, at: 1) }
    }

    /// The device after further packets, each with its time in milliseconds.
    private static func device(_ more: [(Int64, Bool, [UInt8])] = []) throws -> CapturedDevice {
        var recorder = DeviceRecorder()
        for record in records { recorder.add(.packet(record)) }
        for (time, isFromHost, payload) in more {
            recorder.add(.packet(data(payload, isFromHost: isFromHost, at: time)))
        }
        let devices = recorder.finish()
        #expect(devices.count == 1)
        return try #require(devices.first)
    }

    @Test("An included service is found by clients that read all attributes one by one")
    func include() throws {
        let device = try Self.device([
            (2, true, [0x04, 8, 0, 9, 0]), (3, false, [0x05, 1, 8, 0, 0x02, 0x28]), (4, true, [0x0A, 8, 0]),
            (5, false, [0x0B, 0x20, 0, 0x22, 0, 0xE5, 0xFF]),
        ])
        #expect(device.services.map(\.uuid) == [.short(0xFFE0), .short(0xFFE5)])
        #expect(device.services.first?.includes == [.short(0xFFE5)])
        let descriptors = device.services.first?.characteristics.flatMap(\.descriptors).map(\.uuid)
        #expect(descriptors?.contains(.short(0x2802)) == false)
    }

    @Test("A device has the discovered attributes, and the values of their first reads")
    func attributes() throws {
        let device = try Self.device(), service = try #require(device.services.first)
        #expect(device.address.hasPrefix("C6:05:04:03:02:01") && !device.isHost && device.advertisement == nil)
        #expect(service.uuid == .short(0xFFE0) && service.isPrimary && service.handle == 1 && service.end == 9)
        #expect(service.characteristics.map(\.uuid) == [.short(0xFFE1), .short(0xFFE2)])
        #expect(service.characteristics.map(\.handle) == [3, 5])
        #expect(service.characteristics.map(\.properties) == [0x0A, 0x10])
        #expect(service.characteristics.map(\.value) == [[0xAA, 0xBB], nil])
        #expect(service.characteristics[1].descriptors == [.init(uuid: .short(0x2901), handle: 7, value: nil)])
    }

    @Test("Values that repeat after the subscription are one cycle, with the usual interval")
    func notifications() throws {
        let values = (0..<7).map { (Int64(5_000 + $0 * 500), false, [0x1B, 5, 0, UInt8($0 % 3)] as [UInt8]) }
        let sent = try #require(try Self.device([(4_900, true, [0x12, 6, 0, 1, 0])] + values).services.first)
        #expect(sent.characteristics[1].notifications == .init(interval: 500, values: [[0], [1], [2]]))
        #expect(sent.characteristics[0].answers.isEmpty)
    }

    /// Two writes of each of two values, and the values that follow.
    private static func commands(_ second: [UInt8]) -> [(Int64, Bool, [UInt8])] {
        [
            (5_000, true, [0x12, 3, 0, 1]), (5_001, false, [0x13]), (5_030, false, [0x1B, 5, 0, 0x10]),
            (5_040, false, [0x1B, 5, 0, 0x11]), (9_000, true, [0x12, 3, 0, 2]), (9_030, false, [0x1B, 5, 0, 0x20]),
            (15_000, true, [0x52, 3, 0, 1]), (15_050, false, [0x1B, 5, 0, 0x10]), (15_051, false, [0x1B, 5, 0, 0x11]),
            (19_000, true, [0x12, 3, 0, 2]), (19_030, false, [0x1B, 5, 0] + second),
        ]
    }

    @Test("A write that always has the same answer is scripted, and one with different answers is only counted")
    func answers() throws {
        func answer(_ written: UInt8, _ value: UInt8, _ delay: Int) -> CapturedDevice.Answer {
            .init(written: [written], value: [value], characteristic: .short(0xFFE2), delay: delay)
        }
        let same = try Self.device(Self.commands([0x20])), different = try Self.device(Self.commands([0x21]))
        let first = [answer(1, 0x10, 30), answer(1, 0x11, 40)]
        #expect(same.services[0].characteristics[0].answers == first + [answer(2, 0x20, 30)])
        #expect(same.services[0].characteristics[1].notifications == nil && same.variableAnswers == 0)
        #expect(different.services[0].characteristics[0].answers == first)
        #expect(different.variableAnswers == 1)
    }

    @Test("A characteristic that was refused until the link was encrypted is protected", arguments: [0x05, 0x0F, 0x02])
    func protection(code: UInt8) throws {
        let device = try Self.device([(2_000, true, [0x0A, 3, 0]), (2_001, false, [0x01, 0x0A, 3, 0, code])])
        #expect(device.services[0].characteristics[0].isProtected == (code != 0x02))
    }

    /// The packet of an advertisement with the name “Lamp”.
    private static let named: [UInt8] = [5, 9, 0x4C, 0x61, 0x6D, 0x70]

    @Test(
        "The advertisement of a device that the host serves is what the host has set",
        arguments: [
            [0x08, 0x20, 32, 6] + named + [UInt8](repeating: 0, count: 25), [0x37, 0x20, 10, 0, 3, 1, 6] + named,
        ]
    )
    func served(command: [UInt8]) throws {
        var recorder = DeviceRecorder()
        let source = PacketSource(machine: "hci0")
        for bytes in [[1] + command, [1, 0x37, 0x20, 4, 0, 4, 1, 0]] {
            recorder.add(
                .packet(PacketRecord(source: source, direction: .toController, time: Instant(), bytes: bytes))
            )
        }
        recorder.add(.packet(try #require(Self.records.first)))
        for (isFromHost, payload) in Self.discovery {
            recorder.add(.packet(Self.data(payload, isFromHost: !isFromHost, at: 1)))
        }
        let device = try #require(recorder.finish().first)
        #expect(device.isHost && device.advertisement?.data == Self.named && device.name == "Lamp")
    }

    @Test("An advertisement that is reported in parts is put together")
    func parts() throws {
        var recorder = DeviceRecorder()
        func report(_ type: UInt8, _ data: [UInt8]) -> PacketRecord {
            let body =
                [0x0D, 1, type, 0, 1, 1, 2, 3, 4, 5, 0xC6, 1, 1, 0, 127, 200, 0, 0] + [UInt8](repeating: 0, count: 7)
                + [UInt8(data.count)] + data
            return PacketRecord(
                source: PacketSource(machine: "hci0"),
                direction: .toHost,
                time: Instant(),
                bytes: [4, 0x3E, UInt8(body.count)] + body
            )
        }
        recorder.add(.packet(report(0x21, [5, 9, 0x4C])))
        recorder.add(.packet(report(0x01, [0x61, 0x6D, 0x70])))
        for record in Self.records { recorder.add(.packet(record)) }
        let device = try #require(recorder.finish().first)
        #expect(device.advertisement?.data == [5, 9, 0x4C, 0x61, 0x6D, 0x70])
        #expect(device.advertisement?.isLegacy == false && device.name == "Lamp")
    }

    @Test("Recording ends without a trap, however the packets were damaged", arguments: UInt64(0)..<16)
    func accidents(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let records = Self.records + Self.commands([1]).map { Self.data($0.2, isFromHost: $0.1, at: $0.0) }
        for _ in 0..<200 {
            var recorder = DeviceRecorder()
            for record in records {
                var record = record
                if Int.random(in: 0..<3, using: &random) == 0 {
                    let place = Int.random(in: record.bytes.indices, using: &random)
                    record.bytes[place] = .random(in: .min ... .max, using: &random)
                }
                recorder.add(.packet(record))
            }
            #expect(recorder.finish().count <= records.count)
        }
    }
}
