import BLEHost
import BLEWire
import Testing

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
        let answer = try ATTPacket(decoding: [UInt8](next))
        if case .errorResponse(let error) = answer {
            step = receive(.failure(error.code))
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

/// Core 6.0, Vol 3, Part G, 4.4.
@Suite("Discovery of services")
struct ServiceDiscoveryTests {
    private func play(_ only: [BluetoothUUID], _ answers: [String]) throws -> ([String], Found<DiscoveredService>?) {
        var machine = ServiceDiscovery(only: only)
        return try BLEHostTests.play(machine.begin(), answers) { machine.receive($0) }
    }

    @Test("Lists all, until nothing is found behind the last")
    func all() throws {
        let (requests, outcome) = try play(
            [],
            [
                "11 06 0100 0500 0018 0600 0900 0f18", "11 14 1000 1f00 00112233445566778899aabbccddeeff",
                "01 10 2000 0a",
            ]
        )
        #expect(requests == ["100100ffff0028", "100a00ffff0028", "102000ffff0028"])
        let services = try #require(try outcome?.get())
        #expect(services.map(\.range) == [range(1, 5), range(6, 9), range(16, 31)])
        #expect(services.map(\.uuid.description) == ["1800", "180F", "FFEEDDCC-BBAA-9988-7766-554433221100"])
    }

    @Test("Looks for one by its value, and stops at the last handle")
    func one() throws {
        let (requests, outcome) = try play([.short(0x180F)], ["07 0600 0900 2000 ffff"])
        #expect(requests == ["060100ffff00280f18"])
        #expect(try outcome?.get().map(\.range) == [range(6, 9), range(32, 0xFFFF)])
    }

    @Test("Picks several out of the list of all")
    func several() throws {
        let answers = ["11 06 0100 0500 0018 0600 0900 0f18 0a00 ffff 0d18"]
        let (requests, outcome) = try play([.short(0x180D), .short(0x1800)], answers)
        #expect(requests == ["100100ffff0028"])
        #expect(try outcome?.get().map(\.uuid) == [.short(0x1800), .short(0x180D)])
    }

    @Test(
        "Gives up on a server that contradicts itself",
        arguments: [
            "11 06 0500 0100 0018", "11 06 0000 0100 0018", "11 05 0100 0500 00", "11 04 0100 0500", "07 0100 0500",
            "13",
        ]
    )
    func contradiction(answer: String) throws {
        #expect(try play([], [answer]).1 == .failure(.att(.invalidPDU)))
    }

    @Test("Passes over what is not behind the service before, and ends a service where the next begins")
    func mistakes() throws {
        let (requests, outcome) = try play(
            [.short(0x180F)],
            ["07 0600 0900 0100 0500 0a00 0800 0c00 1c00 0d00 1b00", "01 06 1c00 0a"]
        )
        #expect(requests == ["060100ffff00280f18", "061c00ffff00280f18"])
        #expect(try outcome?.get().map(\.range) == [range(6, 9), range(12, 12), range(13, 27)])
    }

    @Test("Says why, if the server refuses")
    func refusal() throws {
        #expect(try play([], ["01 10 0100 05"]).1 == .failure(.att(.insufficientAuthentication)))
        #expect(try play([], ["01 10 0100 0a"]).1 == .success([]))
    }
}

/// Core 6.0, Vol 3, Part G, 4.7.1.
@Suite("Discovery of descriptors")
struct DescriptorDiscoveryTests {
    private func play(
        _ range: AttributeHandleRange?,
        first: BluetoothUUID? = nil,
        _ answers: [String]
    ) throws -> ([String], Found<DiscoveredDescriptor>?) {
        var machine = DescriptorDiscovery(in: range, first: first)
        return try BLEHostTests.play(machine.begin(), answers) { machine.receive($0) }
    }

    @Test("Asks nothing where nothing can be")
    func nothing() throws {
        let (requests, outcome) = try play(nil, [])
        #expect(requests == [] && outcome == .success([]))
    }

    @Test("Goes on until the end of the characteristic")
    func all() throws {
        let answers = ["05 01 1100 0229 1200 0129", "05 02 1300 00112233445566778899aabbccddeeff", "01 04 1400 0a"]
        let (requests, outcome) = try play(range(0x11, 0x15), answers)
        #expect(requests == ["0411001500", "0413001500", "0414001500"])
        #expect(try outcome?.get().map(\.handle.wire) == [0x11, 0x12, 0x13])
    }

    @Test("Stops at the first of a type, if only that is wanted")
    func first() throws {
        let (requests, outcome) = try play(range(1, 99), first: GATT.clientConfiguration, ["05 01 0100 0129 0200 0229"])
        #expect(requests.count == 1)
        #expect(try outcome?.get().map(\.handle.wire) == [2])
    }

    @Test(
        "Gives up on a server that contradicts itself",
        arguments: [
            "05 01 1000 0229", "05 01 1600 0229", "13",
        ]
    )
    func contradiction(answer: String) throws {
        #expect(try play(range(0x11, 0x15), [answer]).1 == .failure(.att(.invalidPDU)))
    }

    @Test("Passes over what is not behind the one before")
    func mistakes() throws {
        let answers = ["05 01 1000 0329 1200 0229 1200 0129 1100 0129 1300 0129", "01 04 1400 0a"]
        let (requests, outcome) = try play(range(0x11, 0x15), answers)
        #expect(requests == ["0411001500", "0414001500"])
        #expect(try outcome?.get().map(\.handle.wire) == [0x12, 0x13])
    }
}
