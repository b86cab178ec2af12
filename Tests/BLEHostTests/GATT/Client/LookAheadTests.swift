import BLEHost
import BLEWire
import Testing

@Suite("Requests that the host makes ahead")
struct LookAheadTests {
    static let handle = AttributeHandle(wire: 3)

    /// A request of an app, and answers of which the first is about more than the app asked for.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: AttributeRequest
        /// What the host asks, and what it is answered.
        let exchanges: [(request: String, answer: String)]
        let event: PeerEvent
    }

    static let found = DiscoveredCharacteristic(
        uuid: .short(0xFFF1),
        properties: 0x12,
        declaration: .init(wire: 2),
        value: handle,
        end: .init(wire: 5)
    )
    static let inside = AttributeRequest.discoverCharacteristics(in: range(1, 5), only: [])
    static let listed = "09 07 0200 12 0300 f1ff"

    /// Answers that are of no use: refusals, malformed ones, and those that contradict the request.
    static func uselessAnswers(to opcode: String, malformed: [String], contradicting: [String]) -> [String] {
        ["04", "06", "05", "0e", "80", "00"].map { "01 \(opcode) 0100 \($0)" }
            + ["01", "01 \(opcode)", "01 \(opcode) 0000 0a 00"] + malformed + contradicting
    }

    static let uselessTypes = uselessAnswers(
        to: "04",
        malformed: ["05", "05 01", "05 02 0400 0229", "05 03 0400 0229"],
        contradicting: ["05 01 0100 0229"]
    )
    static let uselessValues = uselessAnswers(
        to: "08",
        malformed: ["09", "09 07", "09 07 0200 12", "09 01 02"],
        contradicting: ["09 07 0800 12 0100 f1ff", "09 04 0200 12 03"]
    )

    static let cases: [Case] =
        uselessTypes.filter { $0 != "05 01 0100 0229" }.map { answer in
            Case(
                testDescription: "types behind the last characteristic: \(answer)",
                request: inside,
                exchanges: [
                    ("080200ffff0328", listed), ("040400ffff", answer), ("08040004000328", "01 08 0400 0a"),
                ],
                event: .characteristicsDiscovered(in: range(1, 5), .success([found]))
            )
        }
        + uselessValues.map { answer in
            Case(
                testDescription: "characteristics of other services: \(answer)",
                request: inside,
                exchanges: [
                    ("080200ffff0328", answer), ("08020004000328", listed), ("08040004000328", "01 08 0400 0a"),
                ],
                event: .characteristicsDiscovered(in: range(1, 5), .success([found]))
            )
        }
        + uselessTypes.map { answer in
            Case(
                testDescription: "descriptors of other characteristics: \(answer)",
                request: .discoverDescriptors(of: handle, in: range(4, 5)),
                exchanges: [
                    ("040400ffff", answer), ("0404000500", "05 01 0400 0229 0500 0129"),
                ],
                event: .descriptorsDiscovered(
                    of: handle,
                    .success([
                        .init(uuid: .short(0x2902), handle: .init(wire: 4)),
                        .init(uuid: .short(0x2901), handle: .init(wire: 5)),
                    ])
                )
            )
        }
        + uselessValues.filter { !$0.hasPrefix("09 07 0800") }.map { answer in
            Case(
                testDescription: "services that other services include: \(answer)",
                request: .discoverIncludedServices(in: range(1, 5), only: []),
                exchanges: [("080200ffff0228", answer), ("08020005000228", "01 08 0200 0a")],
                event: .includedServicesDiscovered(in: range(1, 5), .success([]))
            )
        }
        + uselessAnswers(
            to: "10",
            malformed: ["11", "11 06 0100", "11 03 010002"],
            contradicting: ["11 06 0500 0100 0018"]
        )
        .map { answer in
            let found = [(UInt16(0x180F), UInt16(1), UInt16(5)), (0x180A, 6, 9)].map {
                DiscoveredService(uuid: .short($0.0), range: range($0.1, $0.2), isPrimary: true)
            }
            return Case(
                testDescription: "services that were not asked for: \(answer)",
                request: .discoverServices(only: [.short(0x180A), .short(0x180F)]),
                exchanges: [
                    ("100100ffff0028", answer), ("060100ffff00280a18", "07 0600 0900"),
                    ("060a00ffff00280a18", "01 06 0a00 0a"), ("060100ffff00280f18", "07 0100 0500"),
                    ("060600ffff00280f18", "01 06 0600 0a"),
                ],
                event: .servicesDiscovered(.success(found))
            )
        }

    @Test("Looking ahead never makes an app's request fail", arguments: cases)
    func lookingAhead(one: Case) {
        var lone = LoneLayer(role: .central)
        if one.request == Self.inside { discoverServices(&lone) }
        var packets = lone.perform(one.request)
        for (request, answer) in one.exchanges {
            #expect(packets == [[UInt8](request)])
            packets = lone.answers(to: [UInt8](answer))
        }
        #expect(packets == [])
        #expect(lone.peerEvents() == [one.event])
        // The bearer goes on.
        #expect(lone.perform(.read(Self.handle)) == [[UInt8]("0a 0300")])
        _ = lone.answers(to: [0x0B, 7])
        #expect(lone.peerEvents() == [.valueRead(Self.handle, .success([7]))])
    }

    /// Has an app find a service at 1 to 5, behind which there is another.
    private func discoverServices(_ lone: inout LoneLayer) {
        _ = lone.perform(.discoverServices(only: []))
        _ = lone.answers(to: [UInt8]("11 06 0100 0500 f0ff 0600 0700 e0ff"))
        _ = lone.answers(to: [UInt8]("01 10 0800 0a"))
        _ = lone.peerEvents()
    }

    @Test("Looking ahead does not use up the limit for what the app requested")
    func limit() {
        var limits = Limits()
        limits.discoveredAttributes = 4
        var lone = LoneLayer(role: .central, limits: limits)
        #expect(lone.perform(.discoverDescriptors(of: Self.handle, in: range(4, 5))) == [[UInt8]("04 0400 ffff")])
        let all = [UInt8]("05 01 0400 0229 0500 0129 0600 0328 0700 f2ff 0800 0229")
        #expect(lone.answers(to: all) == [[UInt8]("04 0400 0500")])
        _ = lone.answers(to: [UInt8]("05 01 0400 0229 0500 0129"))
        guard case .descriptorsDiscovered(_, .success(let found)) = lone.peerEvents().last else {
            Issue.record("there is room for two descriptors")
            return
        }
        #expect(found.map(\.handle.wire) == [4, 5])
    }

    /// Answers of no use, by the opcode of the request.
    private static func uselessAnswer(to request: [UInt8], _ kind: Int) -> [UInt8] {
        switch kind {
        case 0: [request[0] + 1]
        case 1: [0x01]
        case 2: [0x01, request[0], 0, 0, 0x12]
        default: [0x01, request[0], 0, 0, 0x04]
        }
    }

    @Test("Looking ahead never removes what an app has found, however the peer responds", arguments: 0..<4)
    func ownRequests(kind: Int) {
        var lone = LoneLayer(role: .central)
        lone.layer.bonded(LoneLayer.link, Bond(identity: DeviceAddress("00:00:00:00:00:07", .public)!), at: lone.now)
        _ = lone.sent()
        discoverServices(&lone)
        var packets = lone.advance(by: .milliseconds(250)), count = 0
        while let request = packets.first, count < 200 {
            count += 1
            // What the app was told is confirmed, should the host look at it again.
            let isLook = request.first == 0x10
            let answer =
                request == [UInt8]("10 0100 ffff 0028")
                ? [UInt8]("11 06 0100 0500 f0ff 0600 0700 e0ff")
                : isLook ? [UInt8]("01 10 0800 0a") : Self.uselessAnswer(to: request, kind)
            packets = lone.answers(to: answer) + lone.advance(by: .milliseconds(250))
        }
        #expect(count > 1 && count < 100)
        #expect(lone.peerEvents() == [])
        #expect(!lone.others.contains(.abandon(LoneLayer.link)))
        #expect(lone.perform(.read(Self.handle)) == [[UInt8]("0a 0300")])
        _ = lone.answers(to: [0x0B, 7])
        #expect(lone.peerEvents() == [.valueRead(Self.handle, .success([7]))])
    }

    @Test("If the peer refuses to return more, only what must be verified is requested")
    func verification() throws {
        var lone = LoneLayer(role: .central)
        discoverServices(&lone)
        for (value, end) in [(UInt16(3), UInt16(5)), (0x13, 0x15)] {
            _ = lone.perform(.discoverDescriptors(of: .init(wire: value), in: range(value + 1, end)))
            let handles = [UInt16](value + 1...end)
            _ = lone.answers(to: handles.reduce([0x05, 1]) { $0 + $1.littleEndianOctets + [0x01, 0x29] })
        }
        #expect(lone.peerEvents().count == 2)
        _ = lone.perform(.read(Self.handle))
        var packets = lone.answers(to: [UInt8]("01 0a 0300 12")), types: [String] = []
        for _ in 0..<20 {
            guard let request = packets.first, request[0] != 0x0A else { break }
            let answer: String
            switch request.hexadecimal {
            case "100100ffff0028": answer = "11 06 0100 0500 f0ff 0600 0700 e0ff"
            case "100800ffff0028": answer = "01 10 0800 0a"
            case "0404000500": answer = "05 01 0400 0129 0500 0129"
            case "0414001500": answer = "05 01 1400 0129 1500 0129"
            default: answer = request[0] == 0x04 ? "05 02 0400 0129" : "01 \([request[0]].hexadecimal) 0000 0a"
            }
            if request[0] == 0x04 { types.append(request.hexadecimal) }
            packets = lone.answers(to: [UInt8](answer))
        }
        #expect(types == ["0404001500", "0404000500", "0414001500"])
        #expect(packets == [[UInt8]("0a 0300")])
        #expect(lone.peerEvents() == [])
    }
}
