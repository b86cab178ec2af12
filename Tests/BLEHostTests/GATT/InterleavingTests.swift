import BLEHost
import BLEWire
import Testing

@Suite("Three clients of one peer, randomly interleaved")
struct InterleavingTests {
    /// A client, what it asked for, and what it heard.
    struct Client {
        let id: ClientID
        var isAttached = true
        /// Values that it wrote, in order.
        var written: [UInt8] = []
        var asked = 0
        var answered = 0
    }

    @Test("Each request is answered once, and each client's writes arrive in order", arguments: 0..<16)
    func interleaving(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var pair = AttributePair(centralMTU: [23, 64, 247, 517][Int(seed % 4)])
        var clients = (1...3).map { Client(id: ClientID(rawValue: $0)) }
        var arrived: [Int: [UInt8]] = [:], held: [ServerTransaction] = []
        pair.host(.addService(SampleService.definition))
        pair.connect()
        for client in clients { pair.central.layer.attach(client.id, to: AttributePair.link) }

        func record(_ events: [(client: ClientID, event: ClientEvent)]) {
            for (_, event) in events {
                guard case .server(let event) = event else { continue }
                switch event {
                case .readRequested(let transaction, _, _, _): held.append(transaction)
                case .writeRequested(let transaction, _, let parts):
                    if let transaction { held.append(transaction) }
                    for part in parts where part.offset == 0 && part.value.count >= 2 {
                        arrived[Int(part.value[0]), default: []].append(part.value[1])
                    }
                default: break
                }
            }
        }

        for step in 0..<400 {
            let index = Int(random.below(3))
            if clients[index].isAttached, random.below(100) == 0 {
                pair.central.layer.detach(clients[index].id, from: AttributePair.link, at: pair.now)
                clients[index].isAttached = false
            }
            if clients[index].isAttached, random.below(2) == 0 {
                let request = request(of: &clients[index], step, &random)
                clients[index].asked += 1
                pair.central.layer.perform(
                    request,
                    on: AttributePair.link,
                    for: Requester(clients[index].id),
                    at: pair.now
                )
            }
            _ = pair.settle(atMost: Int(random.below(4)))
            record(pair.peripheral.events)
            pair.peripheral.events = []
            if random.below(2) == 0, !held.isEmpty {
                let response = ServiceRequest.respond(held.removeFirst(), .success([1, 2, 3]))
                pair.peripheral.layer.perform(response, for: AttributePair.server, at: pair.now)
            }
        }
        repeat {
            pair.settle()
            record(pair.peripheral.events)
            pair.peripheral.events = []
            for transaction in held {
                pair.peripheral.layer.perform(
                    .respond(transaction, .success([])),
                    for: AttributePair.server,
                    at: pair.now
                )
            }
            let wasWaiting = !held.isEmpty
            held = []
            pair.peripheral.drain(at: pair.now)
            if !wasWaiting, pair.peripheral.sent.isEmpty, pair.peripheral.events.isEmpty { break }
        } while true

        for client in clients {
            let events = pair.central.events.filter { $0.client == client.id }.compactMap { $0.event.peerEvent }
            let answered = events.reduce(0) { count, event in
                if case .writeCommandsTaken(let taken) = event { return count + taken }
                return count + (LinkDownTests.key(event) == nil ? 0 : 1)
            }
            #expect(answered == client.asked)
            let values = arrived[client.id.rawValue] ?? []
            #expect(values == Array(client.written.prefix(values.count)))
            if client.isAttached { #expect(values.count == client.written.count) }
        }
    }

    private func request(of client: inout Client, _ step: Int, _ random: inout SeededGenerator) -> AttributeRequest {
        let handle = AttributeHandle(wire: 12)
        let number = UInt8(truncatingIfNeeded: client.written.count)
        switch random.below(8) {
        case 0: return .read(handle)
        case 1: return .read(.init(wire: 14))
        case 2: return .discoverCharacteristics(in: range(10, 18), only: [])
        case 3: return .subscribe(random.below(2) == 0 ? .none : .notifications, to: .init(wire: 17), in: range(18, 18))
        case 4:
            client.written.append(number)
            return .writeCommand(handle, [UInt8(client.id.rawValue), number])
        case 5:
            client.written.append(number)
            let rest = [UInt8](repeating: 0, count: Int(random.below(300)))
            return .write(handle, [UInt8(client.id.rawValue), number] + rest)
        default:
            client.written.append(number)
            return .write(handle, [UInt8(client.id.rawValue), number])
        }
    }
}
