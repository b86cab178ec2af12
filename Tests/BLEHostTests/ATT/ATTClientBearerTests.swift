import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part F, 3.3.
@Suite("ATT client bearer")
struct ATTClientBearerTests {
    let start = Instant()

    @Test("Only the response or error to the request in flight is accepted")
    func matching() {
        var bearer = ATTClientBearer()
        #expect(bearer.receive(.writeResponse) == .ignored)
        bearer.begin(.writeRequest, at: start)
        #expect(bearer.receive(.readResponse(.init(value: []))) == .ignored)
        let stray = ATT.ErrorResponse(request: .readRequest, handle: .none, code: .invalidHandle)
        #expect(bearer.receive(.errorResponse(stray)) == .ignored)
        #expect(!bearer.isIdle)
        #expect(bearer.receive(.writeResponse) == .answered(.success(.writeResponse)))
        #expect(bearer.isIdle)
        bearer.begin(.writeRequest, at: start)
        let refusal = ATT.ErrorResponse(request: .writeRequest, handle: .init(wire: 3), code: .writeNotPermitted)
        #expect(bearer.receive(.errorResponse(refusal)) == .answered(.failure(.att(.writeNotPermitted))))
        #expect(bearer.receive(.writeResponse) == .ignored)
    }

    @Test(
        "A malformed response fails only its own transaction",
        arguments: ["09", "0907", "01", "0108", "010800000aff"]
    )
    func malformed(answer: String) {
        var bearer = ATTClientBearer()
        func receive(_ octets: String) -> ATTClientBearer.OnReceive {
            bearer.receiveMalformed([UInt8](octets).span)
        }
        #expect(receive(answer) == .ignored)
        bearer.begin(.readByTypeRequest, at: start)
        for other in ["", "0b", "010a", "010a00000aff", "05 03"] { #expect(receive(other) == .ignored) }
        #expect(receive(answer) == .answered(.failure(.invalidResponse)))
        #expect(bearer.isIdle && bearer.deadline == nil)
        #expect(receive(answer) == .ignored)
    }

    @Test("An Error Response with the reserved code 0 is a refusal")
    func noReason() {
        var bearer = ATTClientBearer()
        bearer.begin(.readRequest, at: start)
        let refusal = ATT.ErrorResponse(request: .readRequest, handle: .init(wire: 3), code: .init(wire: 0))
        #expect(bearer.receive(.errorResponse(refusal)) == .answered(.failure(.att(.unlikelyError))))
    }

    @Test("After 30 s without a response the bearer is dead, and a late response does not revive it")
    func timeout() {
        var bearer = ATTClientBearer()
        bearer.begin(.readRequest, at: start)
        #expect(bearer.deadline == start + .seconds(30))
        #expect(bearer.expire(at: start + .milliseconds(29_999)) == .nothing)
        #expect(bearer.expire(at: start + .seconds(30)) == .abandon)
        #expect(bearer.hasTimedOut && !bearer.isIdle && bearer.deadline == nil)
        #expect(bearer.receive(.readResponse(.init(value: []))) == .ignored)
        #expect(bearer.expire(at: start + .seconds(60)) == .nothing)
    }
}

@Suite("Request queue")
struct RequestQueueTests {
    let one = ClientID(rawValue: 1), two = ClientID(rawValue: 2)

    private func read(_ handle: UInt16) -> AttributeRequest { .read(.init(wire: handle)) }

    @Test("Clients take turns, and each client's requests keep their order")
    func fairness() {
        var queue = RequestQueue(limit: 4, commandLimit: 4)
        for handle in UInt16(1)...3 { #expect(queue.append(read(handle), for: Requester(one)) == true) }
        for handle in UInt16(11)...12 { #expect(queue.append(read(handle), for: Requester(two)) == true) }
        var order: [AttributeRequest] = []
        while let (_, request, _) = queue.next() { order.append(request) }
        #expect(order == [read(1), read(11), read(2), read(12), read(3)])
        #expect(queue.isEmpty)
    }

    @Test("Requests about removed attributes keep their turn, and write commands to them are dropped immediately")
    func void() {
        var queue = RequestQueue(limit: 4, commandLimit: 4)
        let command = AttributeRequest.writeCommand(.init(wire: 2), [1]), place = AttributeHandleRange(.init(wire: 2))
        for request in [read(1), read(2), command, read(3)] { _ = queue.append(request, for: Requester(one)) }
        _ = queue.append(command, for: Requester(two))
        let gone = place.map { queue.removeRequests(about: $0) } ?? []
        #expect(gone.map(\.client) == [one, two])
        #expect(gone.map(\.command) == [command, command])
        #expect(!queue.holdsRequests(of: two))
        _ = queue.append(read(2), for: Requester(one))
        var order: [AttributeRequest] = [], void: [Bool] = []
        while let next = queue.next() {
            order.append(next.request)
            void.append(next.isAboutRemoved)
        }
        #expect(order == [read(1), read(2), read(3), read(2)])
        #expect(void == [false, true, false, false])
    }

    @Test("Each client has its own limit of requests")
    func limit() {
        var queue = RequestQueue(limit: 2, commandLimit: 1)
        for handle in UInt16(1)...2 { #expect(queue.append(read(handle), for: Requester(one)) == true) }
        #expect(queue.append(read(3), for: Requester(one)) == false)
        #expect(queue.append(read(4), for: Requester(two)) == true)
        let command = AttributeRequest.writeCommand(.init(wire: 9), [1])
        #expect(queue.append(command, for: Requester(one)) == true)
        #expect(queue.append(command, for: Requester(one)) == false)
        #expect(queue.removeAll(of: one).map(\.request) == [read(1), read(2), command])
        #expect(!queue.holdsRequests(of: one) && queue.holdsRequests(of: two))
    }

    @Test("A command leaves once its client has no request before it, unless the client is blocked")
    func commands() {
        var queue = RequestQueue(limit: 4, commandLimit: 4)
        let command = AttributeRequest.writeCommand(.init(wire: 9), [1])
        _ = queue.append(read(1), for: Requester(one))
        _ = queue.append(command, for: Requester(one))
        #expect(queue.nextCommand { _ in true } == nil)
        _ = queue.next()
        #expect(queue.nextCommand { $0 != one } == nil)
        #expect(queue.nextCommand { $0 != two }?.handle == .init(wire: 9))
        #expect(queue.isEmpty)
    }
}

/// Core 6.0, Vol 3, Part F, 3.4.2.
@Suite("MTU negotiation")
struct MTUNegotiationTests {
    let start = Instant()

    @Test("The smaller MTU is used, but never less than 23", arguments: [(0, 23), (22, 23), (100, 100), (65_535, 517)])
    func answer(offer: UInt16, agreed: Int) {
        var negotiation = MTUNegotiation(preferred: 517, role: .central, at: start)
        #expect(negotiation.receiveAnswer(serverMTU: offer) == .settled)
        #expect(negotiation.mtu == agreed)
        #expect(negotiation.deadline == nil)
    }

    @Test("An error or one second without a response settles the MTU, and a late response still counts")
    func silence() {
        var refused = MTUNegotiation(preferred: 517, role: .central, at: start)
        #expect(refused.receiveAnswer(serverMTU: nil) == .settled)
        #expect(refused.mtu == 23)
        var silent = MTUNegotiation(preferred: 517, role: .central, at: start)
        #expect(silent.expire(at: start + .milliseconds(999)) == .nothing)
        #expect(silent.expire(at: start + .seconds(1)) == .settled)
        #expect(silent.mtu == 23)
        #expect(silent.receiveAnswer(serverMTU: 247) == .changed)
        #expect(silent.mtu == 247)
    }

    @Test("The peer's request counts once, and does not settle the MTU while the host's own exchange is pending")
    func request() {
        var negotiation = MTUNegotiation(preferred: 200, role: .central, at: start)
        #expect(negotiation.receiveRequest(clientMTU: 100) == .changed)
        #expect(negotiation.mtu == 100)
        #expect(negotiation.deadline == start + .seconds(1))
        #expect(negotiation.receiveAnswer(serverMTU: 100) == .settled)
        #expect(negotiation.receiveRequest(clientMTU: 50) == .nothing)
        #expect(negotiation.mtu == 100)
    }

    @Test("A peripheral waits for nothing, and takes the MTU of the first exchange")
    func peripheral() {
        var negotiation = MTUNegotiation(preferred: 200, role: .peripheral, at: start)
        #expect(negotiation.deadline == nil)
        #expect(negotiation.mtu == 23)
        #expect(negotiation.receiveAnswer(serverMTU: 100) == .changed)
        #expect(negotiation.receiveRequest(clientMTU: 100) == .nothing)
        #expect(negotiation.mtu == 100)
    }
}
