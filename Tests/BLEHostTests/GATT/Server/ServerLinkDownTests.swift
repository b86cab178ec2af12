import BLEHost
import BLEWire
import Testing

@Suite("Loss of a link at every step of a server")
struct ServerLinkDownTests {
    /// What the app of a server does while a central may have asked for values.
    struct Procedure: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let requests: [ServiceRequest]
        let subscription: Subscription

        init(_ name: String, _ subscription: Subscription, _ requests: [ServiceRequest]) {
            (testDescription, self.subscription, self.requests) = (name, subscription, requests)
        }
    }

    private static let sent = SampleService.sent
    private static let second = ServiceDefinition(id: .init(rawValue: 100), uuid: .short(0x1234))
    private static let central = [AttributePair.centralPeer]

    /// A further procedure is a further line.
    static let procedures: [Procedure] = [
        .init("a notification", .notifications, [.update(sent, [1], to: nil)]),
        .init("a notification to one central", .notifications, [.update(sent, [1], to: central)]),
        .init("several notifications", .notifications, (0..<5).map { .update(sent, [$0], to: nil) }),
        .init("an indication", .indications, [.update(sent, [1], to: nil)]),
        .init("several indications", .indications, (0..<5).map { .update(sent, [$0], to: nil) }),
        .init("an update that nobody wants", .none, [.update(sent, [1], to: nil)]),
        .init("a service that is added", .none, [.addService(second)]),
        .init("a service that comes and goes", .none, [.addService(second), .removeService(second.id)]),
        .init("an indication and a service", .indications, [.update(sent, [1], to: nil), .addService(second)]),
        .init("an indication of what is removed", .indications, [.update(sent, [1], to: nil), .removeAllServices]),
    ]

    @Test("Every request of the app completes exactly once", arguments: procedures, [true, false])
    func everyStep(procedure: Procedure, takesReceipts: Bool) {
        var steps = 0
        while true {
            var pair = AttributePair(centralMTU: 23)
            pair.host(.addService(SampleService.definition))
            pair.connect()
            if procedure.subscription != .none {
                _ = pair.ask(.subscribe(procedure.subscription, to: .init(wire: 17), in: range(18, 18)))
            }
            _ = pair.serverEvents()
            pair.peripheral.takesReceipts = takesReceipts
            for request in procedure.requests {
                pair.peripheral.layer.perform(request, for: AttributePair.server, at: pair.now)
            }
            let isOver = pair.settle(atMost: steps)
            end(&pair)
            let events = pair.serverEvents()
            let done = events.reduce(0) { $0 + Self.completions($1) }
            #expect(done == procedure.requests.count { Self.isAnswered($0) }, "after \(steps) packets")
            #expect(events.count { Self.isUnsubscription($0) } == (procedure.subscription == .none ? 0 : 1))
            #expect(pair.peripheral.layer.deadline == nil && pair.central.layer.deadline == nil)
            if isOver { break }
            steps += 1
        }
        #expect(steps < 50)
    }

    /// What a central asks that takes an answer of the app.
    static let questions: [AttributeRequest] = [
        .read(.init(wire: 12)), .write(.init(wire: 12), [1]), .write(.init(wire: 12), [UInt8](repeating: 3, count: 50)),
        .writeCommand(.init(wire: 12), [1]),
    ]

    @Test("A response for a disconnected central is dropped with a note", arguments: questions.indices)
    func lateAnswers(index: Int) {
        var steps = 0
        while true {
            var pair = AttributePair(centralMTU: 23)
            pair.host(.addService(SampleService.definition))
            pair.connect()
            _ = pair.serverEvents()
            pair.central.layer.perform(
                Self.questions[index],
                on: AttributePair.link,
                for: Requester(AttributePair.app),
                at: pair.now
            )
            let isOver = pair.settle(atMost: steps)
            end(&pair)
            let transactions = pair.serverEvents().compactMap(Self.transaction)
            #expect(transactions.count <= 1)
            pair.peripheral.others = []
            for transaction in transactions {
                pair.peripheral.layer.perform(
                    .respond(transaction, .success([])),
                    for: AttributePair.server,
                    at: pair.now
                )
            }
            pair.peripheral.drain(at: pair.now)
            #expect(pair.peripheral.sent.isEmpty)
            #expect(
                pair.peripheral.others == transactions.map { _ in .note(.answerWithoutRequest(AttributePair.server)) }
            )
            #expect(pair.central.events.compactMap { $0.event.peerEvent.flatMap(LinkDownTests.key) }.count == 1)
            if isOver { break }
            steps += 1
        }
        #expect(steps < 50)
    }

    private func end(_ pair: inout AttributePair) {
        pair.central.layer.linkDown(AttributePair.link, failure: .notConnected, at: pair.now)
        pair.peripheral.layer.linkDown(AttributePair.link, failure: .notConnected, at: pair.now)
        pair.central.drain(at: pair.now)
        pair.peripheral.drain(at: pair.now)
        pair.peripheral.sent = []
    }

    private static func isAnswered(_ request: ServiceRequest) -> Bool {
        if case .update = request { return true }
        if case .addService = request { return true }
        return false
    }

    private static func completions(_ event: ServerEvent) -> Int {
        if case .updatesTaken(let count) = event { return count }
        if case .serviceAdded = event { return 1 }
        return 0
    }

    private static func isUnsubscription(_ event: ServerEvent) -> Bool {
        if case .unsubscribed = event { true } else { false }
    }

    private static func transaction(_ event: ServerEvent) -> ServerTransaction? {
        if case .readRequested(let transaction, _, _, _) = event { return transaction }
        if case .writeRequested(let transaction, _, _) = event { return transaction }
        return nil
    }
}
