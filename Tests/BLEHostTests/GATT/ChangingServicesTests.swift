import BLEHost
import BLEWire
import Testing

/// Services that go while they are used.
@Suite("Services that are removed during requests")
struct ChangingServicesTests {
    private func makeLayer() -> LoneLayer {
        var lone = LoneLayer(role: .peripheral, mtu: 64)
        _ = lone.perform(.addService(SampleService.definition))
        _ = lone.serverEvents()
        return lone
    }

    private func asked(_ lone: inout LoneLayer) -> ServerTransaction? {
        for event in lone.serverEvents() {
            switch event {
            case .readRequested(let transaction, _, _, _), .writeRequested(let transaction?, _, _): return transaction
            default: continue
            }
        }
        return nil
    }

    @Test(
        "Requests waiting for the app are refused, later ones are answered, and a late response is noted",
        arguments: [
            ("0a 0c00", "01 0a 0c00 01"), ("0c 0c00 0100", "01 0c 0c00 01"), ("0e 0500 0c00", "01 0e 0c00 01"),
            ("20 0c00 0500", "01 20 0c00 01"), ("08 0100 ffff 3d2a", "01 08 0c00 01"), ("12 0c00 01", "01 12 0c00 01"),
        ]
    )
    func waiting(request: String, refusal: String) throws {
        var lone = makeLayer()
        #expect(lone.answers(to: [UInt8](request)) == [])
        let transaction = try #require(asked(&lone))
        #expect(lone.answers(to: [UInt8]("0a 0500")) == [])
        #expect(lone.perform(.removeService(SampleService.service)) == [[UInt8](refusal), [0x0B, 0, 0]])
        lone.others = []
        #expect(lone.perform(.respond(transaction, .success([1]))) == [])
        #expect(lone.notes == [.answerWithoutRequest(LoneLayer.app)])
    }

    @Test("A group of writes that waits for the app is refused as a whole")
    func group() throws {
        var lone = makeLayer()
        for part in ["16 0c00 0000 01", "16 0c00 0100 02"] { #expect(lone.answers(to: [UInt8](part)).count == 1) }
        #expect(lone.answers(to: [0x18, 1]) == [])
        _ = try #require(asked(&lone))
        #expect(lone.perform(.removeService(SampleService.service)) == [[UInt8]("01 18 0c00 01")])
        #expect(lone.answers(to: [0x18, 1]) == [[0x19]])
    }

    @Test("Prepared writes to a removed service are refused, and so is the rest of a long read")
    func later() {
        var lone = makeLayer()
        #expect(lone.answers(to: [UInt8]("16 0c00 0000 01")).count == 1)
        #expect(lone.answers(to: [UInt8]("0c 0e00 0100")) == [[0x0D, 2, 3]])
        _ = lone.perform(.removeService(SampleService.service))
        #expect(lone.answers(to: [UInt8]("0c 0e00 0200")) == [[UInt8]("01 0c 0e00 01")])
        #expect(lone.answers(to: [0x18, 1]) == [[UInt8]("01 18 0c00 01")])
    }

    @Test("Other services stay available, and handles are not reused while a peer is connected")
    func others() throws {
        var lone = makeLayer()
        var other = SampleService.definition
        other.id = .init(rawValue: 101)
        for index in other.characteristics.indices { other.characteristics[index].id.rawValueOffset(by: 100) }
        _ = lone.perform(.addService(other))
        _ = lone.serverEvents()
        #expect(lone.answers(to: [UInt8]("0a 1500")) == [])
        let transaction = try #require(asked(&lone))
        #expect(lone.perform(.removeService(SampleService.service)) == [])
        #expect(lone.perform(.respond(transaction, .success([7]))) == [[0x0B, 7]])
        _ = lone.perform(.addService(SampleService.definition))
        #expect(lone.answers(to: [UInt8]("04 0a00 1200")) == [[UInt8]("01 04 0a00 0a")])
        #expect(lone.answers(to: [UInt8]("0a 2000")) == [[0x0B, 1, 2, 3]])
    }
}

extension LocalAttributeID {
    /// Names something else.
    fileprivate mutating func rawValueOffset(by offset: UInt32) { self = Self(rawValue: rawValue + offset) }
}
