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

/// Core 6.0, Vol 3, Part G, 4.4.2.
@Suite("Discovery of services by UUID")
struct ServiceDiscoveryTests {
    private func play(_ answers: [String]) throws -> ([String], Found<DiscoveredService>?) {
        var machine = ServiceSearch(only: .short(0x180F))
        return try BLEHostTests.play(machine.begin(), answers) { machine.receive($0) }
    }

    @Test("Services are searched for by value, up to the last handle")
    func last() throws {
        let (requests, outcome) = try play(["07 0600 0900 2000 ffff"])
        #expect(requests == ["060100ffff00280f18"])
        let services = try #require(try outcome?.get())
        #expect(services.map(\.range) == [range(6, 9), range(32, 0xFFFF)])
        #expect(services.map(\.uuid) == [.short(0x180F), .short(0x180F)])
    }

    @Test("Discovery continues until nothing follows the last service")
    func all() throws {
        let (requests, outcome) = try play(["07 0600 0900", "07 1000 1f00", "01 06 2000 0a"])
        #expect(requests == ["060100ffff00280f18", "060a00ffff00280f18", "062000ffff00280f18"])
        #expect(try outcome?.get().map(\.range) == [range(6, 9), range(16, 31)])
    }

    @Test("Discovery gives up on a server that contradicts itself", arguments: ["07 0500 0100", "07 0000 0100", "13"])
    func contradiction(answer: String) throws {
        #expect(try play([answer]).1 == .failure(.invalidResponse))
    }

    @Test("Discovery skips services that are out of order, and ends a service where the next begins")
    func mistakes() throws {
        let (requests, outcome) = try play(["07 0600 0900 0100 0500 0a00 0800 0c00 1c00 0d00 1b00", "01 06 1c00 0a"])
        #expect(requests == ["060100ffff00280f18", "061c00ffff00280f18"])
        #expect(try outcome?.get().map(\.range) == [range(6, 9), range(12, 12), range(13, 27)])
    }

    @Test("Discovery reports why the server refused")
    func refusal() throws {
        #expect(try play(["01 06 0100 05"]).1 == .failure(.att(.insufficientAuthentication)))
        #expect(try play(["01 06 0100 0a"]).1 == .success([]))
    }
}

/// Core 6.0, Vol 3, Part G, 4.7.1.
@Suite("Discovery of a descriptor")
struct DescriptorDiscoveryTests {
    private func play(
        _ range: AttributeHandleRange?,
        _ answers: [String]
    ) throws -> ([String], FirstDescriptorSearch.Outcome?) {
        var machine = FirstDescriptorSearch(in: range, first: GATT.clientConfiguration)
        return try BLEHostTests.play(machine.begin(), answers) { machine.receive($0) }
    }

    @Test("Discovery sends no request for an empty range")
    func nothing() throws {
        let (requests, outcome) = try play(nil, [])
        #expect(requests == [] && outcome == .success(nil))
    }

    @Test("Discovery continues to the end of the characteristic, or until the server has no more")
    func all() throws {
        let answers = ["05 01 1100 0329 1200 0129", "05 02 1300 00112233445566778899aabbccddeeff"]
        for last in ["01 04 1400 0a", "05 01 1500 0429"] {
            let (requests, outcome) = try play(range(0x11, 0x15), answers + [last])
            #expect(requests == ["0411001500", "0413001500", "0414001500"])
            #expect(outcome == .success(nil))
        }
    }

    @Test("Discovery stops at the first descriptor of the type")
    func first() throws {
        let (requests, outcome) = try play(range(1, 99), ["05 01 0100 0129 0200 0229 0300 0229"])
        #expect(requests.count == 1)
        #expect(try outcome?.get()?.handle.wire == 2)
    }

    @Test(
        "Discovery gives up on a server that contradicts itself",
        arguments: ["05 01 1000 0229", "05 01 1600 0229", "13"]
    )
    func contradiction(answer: String) throws {
        #expect(try play(range(0x11, 0x15), [answer]).1 == .failure(.invalidResponse))
    }

    @Test("Discovery skips descriptors that are out of order")
    func mistakes() throws {
        let answers = ["05 01 1000 0229 1200 0129 1200 0229 1100 0229 1300 0129", "05 01 1400 0229"]
        let (requests, outcome) = try play(range(0x11, 0x15), answers)
        #expect(requests == ["0411001500", "0414001500"])
        #expect(try outcome?.get()?.handle.wire == 0x14)
    }

    @Test("Discovery reports why the server refused")
    func refusal() throws {
        #expect(try play(range(0x11, 0x15), ["01 04 1100 05"]).1 == .failure(.att(.insufficientAuthentication)))
    }
}
