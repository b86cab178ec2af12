import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part G, 4.8.
@Suite("Reading values")
struct ValueReadingTests {
    private func play(_ mtu: Int, _ answers: [String]) throws -> ([String], Result<[UInt8], Failure>?) {
        var machine = ValueReading(.init(wire: 5))
        return try BLEHostTests.play(machine.begin(mtu: mtu), answers) { machine.receive($0, mtu: mtu) }
    }

    private func octets(_ count: Int) -> String { [UInt8](repeating: 0xAB, count: count).hexadecimal }

    @Test("A response that leaves room in its packet is the whole value")
    func short() throws {
        let (requests, outcome) = try play(23, ["0b" + octets(21)])
        #expect(requests == ["0a0500"])
        #expect(try outcome?.get().count == 21)
    }

    @Test(
        "A response that fills the packet is followed by a request for the rest",
        arguments: [["0d" + "01"], ["0d"], ["01 0c 0500 0b"], ["01 0c 0500 07"]]
    )
    func long(ending: [String]) throws {
        let (requests, outcome) = try play(23, ["0b" + octets(22), "0d" + octets(22)] + ending)
        #expect(requests == ["0a0500", "0c05001600", "0c05002c00"])
        #expect(try outcome?.get().count == (ending == ["0d01"] ? 45 : 44))
    }

    @Test("Octets beyond the MTU are ignored")
    func excess() throws {
        let (requests, outcome) = try play(23, ["0b" + octets(30), "0d" + octets(3)])
        #expect(requests == ["0a0500", "0c05001600"])
        #expect(try outcome?.get().count == 25)
    }

    @Test("A value is never longer than 512 octets, whatever the server sends")
    func limit() throws {
        let (requests, outcome) = try play(23, ["0b" + octets(22)] + Array(repeating: "0d" + octets(22), count: 40))
        #expect(requests.count == 24)
        #expect(try outcome?.get().count == 512)
    }

    @Test(
        "A value that fills the packet is complete if the server reports that it has no more",
        arguments: [ATT.ErrorCode.requestNotSupported, .attributeNotLong, .invalidOffset]
    )
    func unsupported(code: ATT.ErrorCode) throws {
        for mtu in [23, 185, 247] {
            let (_, outcome) = try play(mtu, ["0b" + octets(mtu - 1), "01 0c 0500" + [code.wire].hexadecimal])
            #expect(try outcome?.get().count == mtu - 1)
            #expect(try play(mtu, ["01 0a 0500" + [code.wire].hexadecimal]).1 == .failure(.att(code)))
        }
    }

    @Test("An error in the middle of a long read is a failure")
    func refusal() throws {
        #expect(try play(23, ["0b" + octets(22), "01 0c 0500 05"]).1 == .failure(.att(.insufficientAuthentication)))
        #expect(try play(23, ["01 0a 0500 07"]).1 == .failure(.att(.invalidOffset)))
        #expect(try play(23, ["0b" + octets(22), "0b 00"]).1 == .failure(.invalidResponse))
    }
}

/// Core 6.0, Vol 3, Part G, 4.9.
@Suite("Writing values")
struct ValueWritingTests {
    private func play(
        _ count: Int,
        at start: Int = 0,
        withdrawAfter: Int? = nil,
        _ answers: [String]
    ) throws -> ([String], Failure??) {
        var machine = ValueWriting([UInt8](repeating: 7, count: count), to: .init(wire: 5), at: start)
        var received = 0
        return try BLEHostTests.play(machine.begin(mtu: 23), answers) { answer in
            if received == withdrawAfter { machine.withdraw(.cancelled) }
            received += 1
            return machine.receive(answer, mtu: 23)
        }
    }

    private static let part = String(repeating: "07", count: 18)
    /// Answers to the first part.
    private static let wrong: [(String, Failure)] = [
        ("01 16 0500 09", .att(.prepareQueueFull)),
        ("1705000000\(String(repeating: "07", count: 17))08", .invalidResponse),
        ("1705000000\(String(repeating: "07", count: 17))", .invalidResponse),
        ("1706000000\(part)", .invalidResponse), ("1705000100\(part)", .invalidResponse),
        ("13", .invalidResponse),
    ]

    @Test("A value that fits is written with one request")
    func short() throws {
        let (requests, outcome) = try play(20, ["13"])
        #expect(requests == ["120500" + String(repeating: "07", count: 20)])
        #expect(outcome == .some(nil))
        #expect(try play(3, ["01 12 0500 03"]).1 == .att(.writeNotPermitted))
        #expect(try play(3, ["0b 00"]).1 == .invalidResponse)
    }

    @Test("A longer value is prepared in parts, each of them checked, and then executed")
    func long() throws {
        let (requests, outcome) = try play(21, ["1705000000" + Self.part, "1705001200070707", "19"])
        #expect(requests == ["1605000000" + Self.part, "1605001200070707", "1801"])
        #expect(outcome == .some(nil))
    }

    @Test("A part of a value is prepared from its offset on, however short it is")
    func offset() throws {
        let (requests, outcome) = try play(21, at: 3, ["1705000300" + Self.part, "1705001500070707", "19"])
        #expect(requests == ["1605000300" + Self.part, "1605001500070707", "1801"])
        #expect(outcome == .some(nil))
        #expect(try play(1, at: 256, ["170500000107", "19"]) == (["160500000107", "1801"], .some(nil)))
        #expect(try play(0, at: 512, ["1705000002", "19"]) == (["1605000002", "1801"], .some(nil)))
        #expect(try play(1, at: 3, ["170500000007", "19"]) == (["160500030007", "1800"], .invalidResponse))
        #expect(try play(1, at: 3, ["01 16 0500 07", "19"]).1 == .att(.invalidOffset))
    }

    @Test(
        "A part that does not end within 512 octets is refused without a request",
        arguments: [
            (1, 512, Failure.att(.invalidAttributeValueLength)), (512, 1, .att(.invalidAttributeValueLength)),
            (0, 513, .att(.invalidOffset)), (1, 65_535, .att(.invalidOffset)),
        ]
    )
    func end(count: Int, start: Int, failure: Failure) throws {
        #expect(try play(count, at: start, []) == ([], failure))
    }

    @Test("A refused or wrongly echoed part cancels the whole write", arguments: wrong)
    func cancelling(answer: String, failure: Failure) throws {
        let (requests, outcome) = try play(21, [answer, "19"])
        #expect(requests.first == "1605000000" + Self.part)
        #expect(outcome == failure)
        if answer != "13" { #expect(requests.last == "1800") }
    }

    @Test("The first failure is reported, whatever the server responds to the cancellation")
    func cancelled() throws {
        #expect(try play(21, ["01 16 0500 05", "01 18 0000 0e"]).1 == .att(.insufficientAuthentication))
    }

    @Test("The parts of a client that leaves are cancelled")
    func withdrawal() throws {
        let (requests, outcome) = try play(21, withdrawAfter: 0, ["1705000000" + Self.part, "19"])
        #expect(requests == ["1605000000" + Self.part, "1800"])
        #expect(outcome == .cancelled)
    }

    @Test("A refused execution fails the write")
    func execution() throws {
        let (requests, outcome) = try play(21, ["1705000000" + Self.part, "1705001200070707", "01 18 0500 0d"])
        #expect(requests.last == "1801")
        #expect(outcome == .att(.invalidAttributeValueLength))
    }

    @Test("More than 512 octets are refused without a request")
    func limit() throws {
        let (requests, outcome) = try play(513, [])
        #expect(requests == [])
        #expect(outcome == .att(.invalidAttributeValueLength))
    }
}

/// Core 6.0, Vol 3, Part G, 3.3.3.3.
@Suite("Writing configuration descriptors")
struct ConfigurationWritingTests {
    private func play(
        _ configuration: UInt16?,
        _ range: AttributeHandleRange?,
        _ answers: [String]
    ) throws -> ([String], ConfigurationWriting.Outcome?) {
        let place = configuration.map { ConfigurationWriting.Place.known(.init(wire: $0)) } ?? .searched(range)
        return try play(at: place, answers)
    }

    private func play(
        at place: ConfigurationWriting.Place,
        _ answers: [String]
    ) throws -> ([String], ConfigurationWriting.Outcome?) {
        var machine = ConfigurationWriting(1, to: place)
        return try BLEHostTests.play(machine.begin(), answers) { machine.receive($0) }
    }

    @Test("The descriptor is discovered once, and then written")
    func finding() throws {
        let (requests, outcome) = try play(nil, range(4, 9), ["05 01 0400 0129 0500 0229", "13"])
        #expect(requests == ["0404000900", "1205000100"])
        #expect(outcome?.failure == nil)
        #expect(outcome?.configuration == .init(wire: 5))
        #expect(try play(5, range(4, 9), ["13"]).0 == ["1205000100"])
    }

    @Test("The only descriptor is written without a search")
    func only() throws {
        let (requests, outcome) = try play(at: .only(.init(wire: 5)), ["13"])
        #expect(requests == ["1205000100"])
        #expect(outcome?.configuration == .init(wire: 5) && outcome?.failure == nil)
    }

    @Test(
        "If the only descriptor cannot be written, its type is read",
        arguments: [0x01, 0x03, 0x06, 0x0A, 0x0D] as [UInt8]
    )
    func otherType(code: UInt8) throws {
        let error = ATT.ErrorCode(wire: code), refusal = "01 12 0500 0\(String(code, radix: 16))"
        let description = try play(at: .only(.init(wire: 5)), [refusal, "05 01 0500 0129"])
        #expect(description.0 == ["1205000100", "0405000500"])
        #expect(description.1?.failure == .att(.attributeNotFound))
        let configuration = try play(at: .only(.init(wire: 5)), [refusal, "05 01 0500 0229", refusal])
        #expect(configuration.0 == ["1205000100", "0405000500", "1205000100"])
        #expect(configuration.1?.failure == .att(error))
    }

    @Test("A refusal for another reason is the result")
    func refused() throws {
        let (requests, outcome) = try play(at: .only(.init(wire: 5)), ["01 12 0500 05"])
        #expect(requests.count == 1)
        #expect(outcome?.failure == .att(.insufficientAuthentication))
    }

    @Test("Nothing is written if there is no descriptor")
    func missing() throws {
        #expect(try play(nil, nil, []).1?.failure == .att(.attributeNotFound))
        let (requests, outcome) = try play(nil, range(4, 4), ["05 01 0400 0129"])
        #expect(requests.count == 1)
        #expect(outcome?.failure == .att(.attributeNotFound))
        #expect(try play(nil, range(4, 5), ["01 04 0400 05"]).1?.failure == .att(.insufficientAuthentication))
        #expect(try play(5, nil, ["01 12 0500 05"]).1?.failure == .att(.insufficientAuthentication))
    }
}

/// Core 6.0, Vol 3, Part C, 12.1.
@Suite("Reading names")
struct NameReadingTests {
    private func play(_ answers: [String]) throws -> Result<String, Failure>? {
        var machine = NameReading()
        return try BLEHostTests.play(machine.begin(), answers) { machine.receive($0, mtu: 23) }.outcome
    }

    @Test("A short name takes one response, and the rest of a long one is requested")
    func lengths() throws {
        #expect(try play(["09 05 0300 41c3a9"]) == .success("Aé"))
        let beginning = String(repeating: "41", count: 19)
        #expect(try play(["09 15 0300" + beginning, "0d 4242"]) == .success(String(repeating: "A", count: 19) + "BB"))
        #expect(try play(["09 15 0300" + beginning, "01 0c 0300 0b"]) == .success(String(repeating: "A", count: 19)))
    }

    @Test("Any octets are a valid name, without trailing padding")
    func garbage() throws {
        #expect(try play(["09 06 0300 41000042"]) == .success("A"))
        #expect(try play(["09 03 0300 ff"]) == .success("\u{FFFD}"))
        #expect(try play(["01 08 0100 0a"]) == .failure(.att(.attributeNotFound)))
    }
}
