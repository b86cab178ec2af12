import BLEHost
import BLEWire
import Testing

@testable import BLEConformance

/// Feeds answers, as octets of packets, to a procedure, and gathers the requests that it sends.
func play<Outcome>(
    _ first: ProcedureStep<Outcome>,
    _ answers: [String],
    _ receive: (ATTAnswer) -> ProcedureStep<Outcome>
) throws -> (requests: [String], outcome: Outcome?) {
    var step = first, requests: [String] = [], rest = answers[...]
    while case .request(let packet) = step {
        requests.append(packet.encoded.hexadecimal)
        guard let next = rest.popFirst() else { return (requests, nil) }
        let answer = try ATTPacket(decoding: [UInt8](hexadecimal: next.filter { $0 != " " }))
        if case .errorResponse(let error) = answer {
            step = receive(.failure(.att(error.code)))
        } else {
            step = receive(.success(answer))
        }
    }
    guard case .finished(let outcome) = step else { return (requests, nil) }
    return (requests, outcome)
}

func range(_ start: UInt16, _ end: UInt16) -> AttributeHandleRange {
    AttributeHandleRange(.init(wire: start), .init(wire: end)) ?? .all
}

/// Core 6.0, Vol 3, Part G, 4.5.1.
@Suite("Discovery of included services")
struct IncludedServiceDiscoveryTests {
    private func play(_ answers: [String]) throws -> ([String], Found<DiscoveredService>?) {
        var machine = IncludedServiceDiscovery(in: range(0x10, 0x20))
        return try BLEConformanceTests.play(machine.begin(), answers) { machine.receive($0) }
    }

    @Test("Discovery reads a long UUID where the service is declared, then continues")
    func longTypes() throws {
        let (requests, outcome) = try play([
            "09 06 1100 0100 0300 1200 0400 0600", "0b 00112233445566778899aabbccddeeff",
            "0b 10112233445566778899aabbccddeeff", "09 08 2000 0700 0900 0f18",
        ])
        #expect(requests == ["08100020000228", "0a0100", "0a0400", "08130020000228"])
        let services = try #require(try outcome?.get())
        #expect(services.map(\.range) == [range(1, 3), range(4, 6), range(7, 9)])
        #expect(services.last?.uuid == .short(0x180F))
        #expect(services.first?.uuid.description == "FFEEDDCC-BBAA-9988-7766-554433221100")
    }

    @Test(
        "Discovery gives up on a server that contradicts itself",
        arguments: [
            ["09 08 0f00 0100 0300 0f18"], ["09 08 2100 0100 0300 0f18"], ["09 08 1100 0300 0100 0f18"],
            ["09 07 1100 0100 0300 0f"], ["0b 00"],
        ]
    )
    func contradiction(answers: [String]) throws {
        #expect(try play(answers).1 == .failure(.invalidResponse))
    }

    @Test("A service whose UUID cannot be read is skipped", arguments: ["01 0a 0100 0a", "0b 00"])
    func unreadable(answer: String) throws {
        let (requests, outcome) = try play([
            "09 06 1100 0100 0300", answer, "09 08 1200 0400 0600 0f18 1100 0700 0900 0f18", "01 08 1300 0a",
        ])
        #expect(requests == ["08100020000228", "0a0100", "08120020000228", "08130020000228"])
        #expect(try outcome?.get().map(\.range) == [range(4, 6)])
    }
}

/// Core 6.0, Vol 3, Part G, 4.6.1.
@Suite("Discovery of characteristics")
struct CharacteristicDiscoveryTests {
    private func play(
        _ only: [BluetoothUUID],
        _ answers: [String]
    ) throws -> ([String], Found<DiscoveredCharacteristic>?) {
        var machine = CharacteristicDiscovery(in: range(0x10, 0x20), only: only)
        return try BLEConformanceTests.play(machine.begin(), answers) { machine.receive($0) }
    }

    @Test("A characteristic ends before the next one, and the last ends with the service")
    func ends() throws {
        let answers = ["09 07 1100 02 1200 002a 1500 10 1700 372a", "01 08 1600 0a"]
        for (only, values) in [([], [0x12, 0x17]), ([BluetoothUUID.short(0x2A37)], [0x17])]
            as [([BluetoothUUID], [UInt16])]
        {
            let (requests, outcome) = try play(only, answers)
            #expect(requests == ["08100020000328", "08160020000328"])
            let found = try #require(try outcome?.get())
            #expect(found.map(\.value.wire) == values)
            #expect(found.last?.end.wire == 0x20)
            if only.isEmpty { #expect(found.first?.end.wire == 0x14) }
        }
    }

    @Test("Discovery stops once the last handle is declared")
    func last() throws {
        let (requests, outcome) = try play([], ["09 07 1f00 02 2000 002a", "01 08 2000 0a"])
        #expect(requests.count == 2)
        #expect(try outcome?.get().map(\.end.wire) == [0x20])
    }

    @Test(
        "Discovery gives up on a server that contradicts itself",
        arguments: [
            "09 07 0f00 02 1200 002a", "09 07 1100 02 1100 002a", "09 07 1100 02 2100 002a", "09 07 2100 02 2200 002a",
            "09 06 1100 02 1200 00", "09 04 1100 02 12", "13",
        ]
    )
    func contradiction(answer: String) throws {
        #expect(try play([], [answer]).1 == .failure(.invalidResponse))
    }

    @Test("Discovery skips declarations that are out of order or whose value overlaps the next declaration")
    func mistakes() throws {
        let answers = [
            "09 07 1100 02 1500 002a 1300 02 1400 002a 1200 02 1400 002a 1600 02 1900 002a",
            "09 07 1700 02 1800 002a", "01 08 1800 0a",
        ]
        let (requests, outcome) = try play([], answers)
        #expect(requests == ["08100020000328", "08170020000328", "08180020000328"])
        #expect(try outcome?.get().map(\.declaration.wire) == [0x13, 0x17])
        #expect(try outcome?.get().map(\.end.wire) == [0x16, 0x20])
    }
}

/// Core 6.0, Vol 3, Part G, 4.4.
@Suite("Discovery of services in a range")
struct ServiceRangeDiscoveryTests {
    private func play(
        _ discovery: ServiceRangeDiscovery,
        _ answers: [String]
    ) throws -> ([String], Found<DiscoveredService>?) {
        var machine = discovery
        return try BLEConformanceTests.play(machine.begin(), answers) { machine.receive($0) }
    }

    private let whole = ServiceRangeDiscovery(only: nil, in: .all)

    @Test("Discovery lists all services until nothing follows the last")
    func all() throws {
        let (requests, outcome) = try play(
            whole,
            [
                "11 06 0100 0500 0018 0600 0900 0f18", "11 14 1000 1f00 00112233445566778899aabbccddeeff",
                "01 10 2000 0a",
            ]
        )
        #expect(requests == ["100100ffff0028", "100a00ffff0028", "102000ffff0028"])
        let services = try #require(try outcome?.get())
        #expect(services.map(\.range) == [range(1, 5), range(6, 9), range(16, 31)])
        #expect(services.map(\.uuid.description) == ["1800", "180F", "FFEEDDCC-BBAA-9988-7766-554433221100"])
        #expect(services.map(\.isPrimary) == [true, true, true])
    }

    @Test("Discovery lists the services of a range up to its last handle")
    func part() throws {
        let part = ServiceRangeDiscovery(only: nil, in: range(0x10, 0x20))
        let (requests, outcome) = try play(part, ["11 06 1000 1f00 0018", "11 06 2000 2000 0f18"])
        #expect(requests == ["10100020000028", "10200020000028"])
        #expect(try outcome?.get().map(\.range) == [range(0x10, 0x1F), range(0x20, 0x20)])
    }

    @Test("Discovery lists secondary services as secondary")
    func secondary() throws {
        let (requests, outcome) = try play(ServiceRangeDiscovery(secondaryIn: .all), ["11 06 0100 ffff 0a18"])
        #expect(requests == ["100100ffff0128"])
        #expect(try outcome?.get().map(\.isPrimary) == [false])
    }

    @Test("Discovery searches for one service UUID by value")
    func one() throws {
        let part = ServiceRangeDiscovery(only: .short(0x180F), in: range(6, 0x30))
        let (requests, outcome) = try play(part, ["07 0600 0900 1000 2000", "01 06 2100 0a"])
        #expect(requests == ["0606003000 00280f18", "0621003000 00280f18"].map { $0.filter { $0 != " " } })
        #expect(try outcome?.get().map(\.range) == [range(6, 9), range(16, 32)])
    }

    @Test(
        "Discovery gives up on a server that contradicts itself",
        arguments: [
            "11 06 0500 0100 0018", "11 06 0000 0100 0018", "11 05 0100 0500 00", "11 04 0100 0500", "13",
        ]
    )
    func contradiction(answer: String) throws {
        #expect(try play(whole, [answer]).1 == .failure(.invalidResponse))
    }

    @Test("Discovery reports why the server refused")
    func refusal() throws {
        #expect(try play(whole, ["01 10 0100 05"]).1 == .failure(.att(.insufficientAuthentication)))
        #expect(try play(whole, ["01 10 0100 0a"]).1 == .success([]))
    }
}

/// Core 6.0, Vol 3, Part G, 4.7.1.
@Suite("Discovery of descriptors in a range")
struct DescriptorRangeDiscoveryTests {
    private func play(_ answers: [String]) throws -> ([String], Found<DiscoveredDescriptor>?) {
        var machine = DescriptorRangeDiscovery(in: range(0x11, 0x15))
        return try BLEConformanceTests.play(machine.begin(), answers) { machine.receive($0) }
    }

    @Test("Discovery continues to the end of the range, or until the server has no more descriptors")
    func all() throws {
        let answers = ["05 01 1100 0229 1200 0129", "05 02 1300 00112233445566778899aabbccddeeff"]
        for (last, handles) in [("01 04 1400 0a", [0x11, 0x12, 0x13]), ("05 01 1500 0429", [0x11, 0x12, 0x13, 0x15])]
            as [(String, [UInt16])]
        {
            let (requests, outcome) = try play(answers + [last])
            #expect(requests == ["0411001500", "0413001500", "0414001500"])
            #expect(try outcome?.get().map(\.handle.wire) == handles)
        }
    }

    @Test(
        "Discovery gives up on a server that contradicts itself",
        arguments: ["05 01 1000 0229", "05 01 1600 0229", "13"]
    )
    func contradiction(answer: String) throws {
        #expect(try play([answer]).1 == .failure(.invalidResponse))
    }

    @Test("Discovery reports why the server refused")
    func refusal() throws {
        #expect(try play(["01 04 1100 05"]).1 == .failure(.att(.insufficientAuthentication)))
    }

    @Test("Discovery skips descriptors that are out of order")
    func mistakes() throws {
        let answers = ["05 01 1000 0329 1200 0229 1200 0129 1100 0129 1300 0129", "01 04 1400 0a"]
        let (requests, outcome) = try play(answers)
        #expect(requests == ["0411001500", "0414001500"])
        #expect(try outcome?.get().map(\.handle.wire) == [0x12, 0x13])
    }
}
