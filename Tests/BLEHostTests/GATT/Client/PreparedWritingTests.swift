import BLEWire
import Testing

@testable import BLEHost

/// Core 6.0, Vol 3, Part G, 4.9.4 and 4.9.5.
@Suite("Prepared writes")
struct PreparedWritingTests {
    private func play(
        _ count: Int,
        withdrawAfter: Int? = nil,
        _ answers: [String]
    ) throws -> ([String], Failure??) {
        var machine = PreparedWriting([UInt8](repeating: 7, count: count), to: .init(wire: 5))
        var received = 0
        return try BLEHostTests.play(machine.begin(mtu: 23), answers) { answer in
            if received == withdrawAfter { machine.withdraw(.cancelled) }
            received += 1
            return machine.receive(answer, mtu: 23)
        }
    }

    private let part = String(repeating: "07", count: 18)

    @Test("A value that fits in one packet is checked before it is executed, even an empty one")
    func short() throws {
        let (requests, outcome) = try play(1, ["170500000007", "19"])
        #expect(requests == ["160500000007", "1801"])
        #expect(outcome == .some(nil))
        #expect(try play(0, ["1705000000", "19"]).0 == ["1605000000", "1801"])
    }

    @Test("A longer value is prepared in parts, each of them checked")
    func long() throws {
        let (requests, outcome) = try play(20, ["1705000000" + part, "17050012000707", "19"])
        #expect(requests == ["1605000000" + part, "16050012000707", "1801"])
        #expect(outcome == .some(nil))
    }

    @Test(
        "A refused or wrongly echoed part cancels the whole write",
        arguments: [
            ("01 16 0500 09", Failure.att(.prepareQueueFull)), ("1705000000" + "08", .invalidResponse),
            ("1706000000" + "07", .invalidResponse), ("1705000100" + "07", .invalidResponse),
            ("1705000000", .invalidResponse),
        ]
    )
    func cancelling(answer: String, failure: Failure) throws {
        let (requests, outcome) = try play(1, [answer, "19"])
        #expect(requests == ["160500000007", "1800"])
        #expect(outcome == failure)
    }

    @Test("The first failure is reported, whatever the server responds to the cancellation")
    func cancelled() throws {
        #expect(try play(1, ["01 16 0500 05", "01 18 0000 0e"]).1 == .att(.insufficientAuthentication))
    }

    @Test(
        "Withdrawing a write cancels its prepared parts, unless they are already being executed",
        arguments: [0, 1, 2]
    )
    func withdrawal(after count: Int) throws {
        let answers = ["1705000000" + part, "17050012000707", "19"]
        let (requests, outcome) = try play(20, withdrawAfter: count, count < 2 ? answers[...count] + ["19"] : answers)
        #expect(requests.last == (count < 2 ? "1800" : "1801"))
        #expect(outcome == (count < 2 ? .cancelled : .some(nil)))
    }

    @Test("A refused execution fails the write")
    func execution() throws {
        let (requests, outcome) = try play(1, ["170500000007", "01 18 0500 0d"])
        #expect(requests.last == "1801")
        #expect(outcome == .att(.invalidAttributeValueLength))
    }

    @Test("A response to another request fails the write")
    func contradiction() throws {
        #expect(try play(1, ["13"]).1 == .invalidResponse)
        #expect(try play(1, ["170500000007", "13"]).1 == .invalidResponse)
    }
}
