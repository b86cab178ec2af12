import BLEWire
import Testing

@testable import BLEHost

@Suite("Order of responses")
struct ResultOrderTests {
    static func read(_ wire: UInt16) -> PeerEvent { .valueRead(AttributeHandle(wire: wire), .success([])) }

    @Test(
        "Each client's responses come in the order of its requests, in whatever order the peer answers",
        arguments: 0..<16 as Range<UInt64>
    )
    func order(seed: UInt64) {
        var random = SeededGenerator(seed: seed), answers = ResultOrder()
        let clients = [ClientID(rawValue: 1), ClientID(rawValue: 2)]
        var pending: [(order: UInt64, client: ClientID)] = (0..<40)
            .map { _ in (answers.next(), clients[Int.random(in: 0...1, using: &random)]) }
        let asked = pending
        var heard: [ClientID: [PeerEvent]] = [:]
        while !pending.isEmpty {
            let (order, client) = pending.remove(at: Int.random(in: pending.indices, using: &random))
            answers.hold(
                Self.read(UInt16(order)),
                for: Requester(client, RequestNumber(rawValue: UInt32(order))),
                order: order
            )
            while let (event, number) = answers.release(
                to: client,
                unless: { held in
                    pending.contains { $0.client == client && $0.order < held }
                }
            ) {
                #expect(event == Self.read(UInt16(number.rawValue)))
                heard[client, default: []].append(event)
            }
        }
        #expect(answers.isEmpty)
        for client in clients {
            let expected = asked.filter { $0.client == client }.map { Self.read(UInt16($0.order)) }
            #expect(heard[client, default: []] == expected)
        }
    }
}

@Suite("Write commands in the controller")
struct WriteCommandsTests {
    @Test("A write command counts as sent once its packet or a later one was sent")
    func taking() {
        let clients = [1, 2, 1].map { ClientID(rawValue: $0) }
        var commands = WriteCommands(), taken: [ClientID] = []
        for (index, client) in clients.enumerated() {
            commands.append(SendReceipt(rawValue: UInt64(index)), of: client)
        }
        while let client = commands.nextTaken(upTo: SendReceipt(rawValue: 1)) { taken.append(client) }
        #expect(taken == Array(clients.prefix(2)))
        #expect(commands.contains(clients[0]) && !commands.contains(clients[1]))
        let count = commands.removeAll(of: clients[0])
        #expect(count == 1 && commands.isEmpty)
    }
}
