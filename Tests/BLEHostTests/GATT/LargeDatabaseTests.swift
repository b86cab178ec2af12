import BLEWire
import Testing

@testable import BLEHost

/// Core 6.0, Vol 3, Part F, 3.4.3 and 3.4.4.
@Suite("A database of a thousand attributes with gaps")
struct LargeDatabaseTests {
    /// An attribute as a list of all of them would have it.
    private struct Row: Equatable {
        let handle: UInt16
        let type: BluetoothUUID
        let value: [UInt8]
        /// The last handle of the group that it begins, if it is a service.
        var end: UInt16?
    }

    /// Services of twenty attributes or so, every third of them secondary, every fourth with a long type.
    private static func make(seed: UInt64) throws -> (database: GATTDatabase, rows: [Row]) {
        var random = SeededGenerator(seed: seed)
        var services: [GATTDatabase.ExactService] = [], rows: [Row] = []
        var next: UInt16 = 1
        while rows.count < 1000 {
            let number = UInt16(services.count)
            let uuid: BluetoothUUID = number % 4 == 3 ? .full(UInt128(number) << 64 | 1) : .short(0xB000 + number)
            let isPrimary = number % 3 != 2
            next += .random(in: 0...9, using: &random)
            let start = next
            var service: [Row] = [], items: [GATTDatabase.ExactItem] = []
            while service.count < 18 {
                let declaration = next + .random(in: 1...3, using: &random)
                let value = declaration + .random(in: 1...2, using: &random)
                let descriptor = value + .random(in: 1...4, using: &random)
                let type: BluetoothUUID = service.count % 6 == 0 ? .short(0xC001) : .full(UInt128(value) << 64 | 2)
                let octets = [UInt8](repeating: UInt8(value & 0xFF), count: .random(in: 0...40, using: &random))
                let handle = AttributeHandle(wire: value)
                items += [
                    .characteristic(.init(wire: declaration), type, .read, value: (handle, octets), .readable),
                    .descriptor(.init(wire: descriptor), GATT.userDescription, .readable, [1]),
                ]
                service += [
                    Row(
                        handle: declaration,
                        type: GATT.characteristic,
                        value: [2] + value.littleEndianOctets + type.attributeForm.octets
                    ), Row(handle: value, type: type, value: octets),
                    Row(handle: descriptor, type: GATT.userDescription, value: [1]),
                ]
                next = descriptor
            }
            next += .random(in: 0...5, using: &random)
            let range = try #require(AttributeHandleRange(.init(wire: start), .init(wire: next)))
            services.append(.init(uuid: uuid, isPrimary: isPrimary, range: range, items: items))
            let type = isPrimary ? GATT.primaryService : GATT.secondaryService
            rows += [Row(handle: start, type: type, value: uuid.attributeForm.octets, end: next)] + service
            next += 1
        }
        return (try #require(GATTDatabase(exactly: services)), rows)
    }

    /// Asks again from behind what was found until nothing is, and returns all that was found.
    private func collect(
        _ lone: inout LoneLayer,
        _ request: (AttributeHandleRange) -> ATTPacket,
        _ rows: (ATTPacket) -> [Row]
    ) throws -> [Row] {
        var found: [Row] = [], range: AttributeHandleRange? = .all
        while let current = range {
            let answer = try #require(lone.answers(to: request(current).encoded).first)
            let packet = try ATTPacket(decoding: answer)
            let list = rows(packet)
            guard let last = list.last else {
                let opcode = request(current).opcode
                let nothing = ATT.ErrorResponse(request: opcode, handle: current.start, code: .attributeNotFound)
                #expect(packet == .errorResponse(nothing))
                break
            }
            #expect(answer.count <= lone.layer.links[0].mtu)
            found += list
            range = current.after(AttributeHandle(wire: last.end ?? last.handle))
        }
        return found
    }

    @Test("All attributes are found by every kind of discovery", arguments: [23, 64, 517])
    func discovery(mtu: Int) throws {
        let (database, rows) = try Self.make(seed: UInt64(mtu))
        #expect(rows.count >= 1000)
        var lone = LoneLayer(role: .peripheral, mtu: mtu, database: database)
        let types = try collect(&lone, { .findInformationRequest(.init($0)) }) { packet in
            guard case .findInformationResponse(let response) = packet else { return [] }
            return response.entries.map { Row(handle: $0.handle.wire, type: $0.type, value: []) }
        }
        #expect(types == rows.map { Row(handle: $0.handle, type: $0.type, value: []) })
        for type in [GATT.primaryService, GATT.secondaryService] {
            let groups = try collect(&lone, { .readByGroupTypeRequest(.init($0, groupType: type)) }) { packet in
                guard case .readByGroupTypeResponse(let response) = packet else { return [] }
                return response.entries.map {
                    Row(handle: $0.start.wire, type: type, value: $0.value, end: $0.end.wire)
                }
            }
            #expect(groups == rows.filter { $0.type == type })
        }
        for type in [GATT.characteristic, .short(0xC001), GATT.userDescription] {
            let values = try collect(&lone, { .readByTypeRequest(.init($0, type: type)) }) { packet in
                guard case .readByTypeResponse(let response) = packet else { return [] }
                return response.entries.map { Row(handle: $0.handle.wire, type: type, value: [UInt8]($0.value)) }
            }
            let room = min(mtu - 4, 253)
            let expected = rows.filter { $0.type == type }
                .map { Row(handle: $0.handle, type: type, value: [UInt8]($0.value.prefix(room))) }
            #expect(values == expected)
        }
        for row in rows {
            let handle = AttributeHandle(wire: row.handle)
            let answer = lone.answers(to: ATTPacket.readRequest(.init(handle: handle)).encoded)
            #expect(answer == [[0x0B] + row.value.prefix(mtu - 1)])
        }
    }

    @Test("The gaps contain nothing")
    func gaps() throws {
        let (database, rows) = try Self.make(seed: 1)
        var lone = LoneLayer(role: .peripheral, mtu: 23, database: database)
        let handles = Set(rows.map(\.handle)), last = rows.last?.handle ?? 0
        let wrong = (0...last).filter { handle in
            let answer = lone.answers(to: [0x0A] + handle.littleEndianOctets)
            let isRefused = answer == [[1, 0x0A] + handle.littleEndianOctets + [1]]
            return isRefused == handles.contains(handle)
        }
        #expect(wrong == [])
    }
}
