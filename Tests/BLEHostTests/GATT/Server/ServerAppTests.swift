import BLEHost
import BLEWire
import Testing

@Suite("Values held by an app")
struct ServerAppTests {
    private func makeLayer(mtu: Int = 23) -> LoneLayer {
        var lone = LoneLayer(role: .peripheral, mtu: mtu)
        _ = lone.perform(.addService(SampleService.definition))
        _ = lone.serverEvents()
        return lone
    }

    private var central: RemoteCentral { RemoteCentral(peer: LoneLayer.peer, mtu: 23) }

    /// The transaction of the one request that the app has heard of.
    private func transaction(_ lone: inout LoneLayer, of client: ClientID = LoneLayer.app) throws -> ServerTransaction {
        let events = lone.serverEvents(of: client)
        #expect(events.count == 1)
        switch try #require(events.first) {
        case .readRequested(let transaction, _, _, _): return transaction
        case .writeRequested(let transaction, _, _): return try #require(transaction)
        case let other:
            Issue.record("a request was expected, not \(other)")
            return ServerTransaction(rawValue: 0)
        }
    }

    @Test(
        "The peer receives the app's value, truncated to fit",
        arguments: [
            ("0a 0c00", 0, "0b"), ("0a 0c00", 40, "0b"), ("0c 0c00 0500", 0, "0d"), ("0c 0c00 0500", 40, "0d"),
            ("08 0100 ffff 3d2a", 5, "0907 0c00"), ("08 0100 ffff 3d2a", 40, "0915 0c00"),
            ("20 0c00 0500", 5, "21 0500"), ("20 0c00 0500", 40, "21 2800"),
        ] as [(String, Int, String)]
    )
    func reading(request: String, count: Int, head: String) throws {
        var lone = makeLayer()
        #expect(lone.answers(to: [UInt8](request)) == [])
        let transaction = try transaction(&lone)
        let value = [UInt8](repeating: 5, count: count)
        let answer = try #require(lone.perform(.respond(transaction, .success(value))).first)
        let whole = [UInt8](head) + value + (request.hasPrefix("20") ? [2, 0, 0, 0] : [])
        #expect(answer == [UInt8](whole.prefix(23)))
    }

    @Test("Several values held by apps are requested one after the other")
    func several() throws {
        var lone = makeLayer()
        #expect(lone.answers(to: [UInt8]("0e 0c00 0e00 0c00")) == [])
        let first = try transaction(&lone)
        #expect(lone.perform(.respond(first, .success([7]))) == [])
        let second = try transaction(&lone)
        #expect(lone.perform(.respond(second, .success([8]))) == [[UInt8]("0f 07 010203 08")])
    }

    @Test("A response counts once, and a later one or one from another client is ignored")
    func once() throws {
        var lone = makeLayer()
        _ = lone.answers(to: [UInt8]("0a 0c00"))
        let transaction = try transaction(&lone)
        #expect(lone.perform(.respond(transaction, .success([1])), for: .init(rawValue: 99)) == [])
        #expect(lone.perform(.respond(transaction, .success([1]))) == [[0x0B, 1]])
        #expect(lone.perform(.respond(transaction, .success([2]))) == [])
        #expect(lone.notes == [.answerWithoutRequest(.init(rawValue: 99)), .answerWithoutRequest(LoneLayer.app)])
    }

    @Test("The peer receives the app's error code", arguments: ["0a 0c00", "12 0c00 01"])
    func refusal(request: String) throws {
        var lone = makeLayer()
        _ = lone.answers(to: [UInt8](request))
        let transaction = try transaction(&lone)
        let answer = lone.perform(.respond(transaction, .failure(.init(wire: 0x85))))
        #expect(answer == [[0x01, [UInt8](request)[0], 0x0C, 0x00, 0x85]])
    }

    @Test("While a request waits for the app, other requests wait, and commands do not")
    func waiting() throws {
        var lone = makeLayer()
        _ = lone.answers(to: [UInt8]("0a 0c00"))
        let transaction = try transaction(&lone)
        #expect(lone.answers(to: [UInt8]("0a 0e00")) == [])
        #expect(lone.answers(to: [UInt8]("3f")) == [])
        #expect(lone.answers(to: [UInt8]("52 0c00 07")) == [])
        let part = WritePart(attribute: SampleService.held, value: [7])
        #expect(lone.serverEvents() == [.writeRequested(nil, central, [part])])
        let answers = lone.perform(.respond(transaction, .success([9]))).map(\.hexadecimal)
        #expect(answers == ["0b09", "0b010203", "013f000006"])
    }

    @Test("The number of requests that wait for the app is limited")
    func flood() throws {
        var limits = Limits()
        limits.peerRequests = 4
        var lone = LoneLayer(role: .peripheral, limits: limits)
        _ = lone.perform(.addService(SampleService.definition))
        _ = lone.serverEvents()
        _ = lone.answers(to: [UInt8]("0a 0c00"))
        for _ in 0..<10 { #expect(lone.answers(to: [UInt8]("0a 0e00")) == []) }
        let transaction = try transaction(&lone)
        #expect(lone.perform(.respond(transaction, .success([]))).count == 5)
        #expect(lone.notes.count == 6)
    }

    @Test("Each app receives its prepared writes as one group, and all apps must accept")
    func groups() throws {
        let other = ClientID(rawValue: 4)
        for disagreeing in [nil, LoneLayer.app, other] {
            var lone = makeLayer()
            _ = lone.perform(.addService(SampleService.definition), for: other)
            _ = lone.serverEvents(of: other)
            for packet in ["16 0c00 0000 01", "16 1500 0000 02", "16 0c00 0100 03", "16 1200 0000 0100"] {
                #expect(lone.answers(to: [UInt8](packet)).count == 1)
            }
            #expect(lone.answers(to: [UInt8]("18 01")) == [])
            let events = lone.events
            let mine = try transaction(&lone), others = try transaction(&lone, of: other)
            let parts = [
                WritePart(attribute: SampleService.held, value: [1]),
                WritePart(attribute: SampleService.held, offset: 1, value: [3]),
            ]
            #expect(events.first?.event == .server(.writeRequested(mine, central, WriteGroup(parts))))
            var answers = lone.perform(
                .respond(mine, disagreeing == LoneLayer.app ? .failure(.outOfRange) : .success([]))
            )
            answers += lone.perform(
                .respond(others, disagreeing == other ? .failure(.outOfRange) : .success([])),
                for: other
            )
            #expect(answers.map(\.hexadecimal) == [disagreeing == nil ? "19" : "01180c00ff"])
            #expect(
                lone.answers(to: [UInt8]("0a 1200")).map(\.hexadecimal) == [disagreeing == nil ? "0b0100" : "0b0000"]
            )
        }
    }

    @Test("When an app closes, the requests that wait for it are refused")
    func closing() {
        var lone = makeLayer()
        _ = lone.answers(to: [UInt8]("0a 0c00"))
        _ = lone.answers(to: [UInt8]("0a 0c00"))
        lone.layer.clientClosed(LoneLayer.app, at: lone.now)
        #expect(lone.sent().map(\.hexadecimal) == ["010a0c0001", "010a0c0001"])
        #expect(lone.answers(to: [UInt8]("0a 0300")).count == 1)
    }

    @Test("An unanswered request leaves nothing behind when the link ends")
    func silence() throws {
        var lone = makeLayer()
        _ = lone.answers(to: [UInt8]("0a 0c00"))
        let transaction = try transaction(&lone)
        lone.layer.linkDown(LoneLayer.link, failure: .timedOut, at: lone.now)
        #expect(lone.perform(.respond(transaction, .success([]))) == [])
        #expect(lone.layer.deadline == nil)
    }
}
