import BLEWire
import Testing

@testable import BLEHost

@Suite("Host outbox")
struct HostOutboxTests {
    let link = ConnectionHandle(wire: 0x40) ?? .lowest
    let client = ClientID(rawValue: 1), other = ClientID(rawValue: 2)
    let command: [UInt8] = [0x01, 0x03, 0x0C, 0x00]

    @Test("Packets come first and everything else in order, one by one or in batches", arguments: 0...5)
    func order(alone: Int) {
        var outbox = HostOutbox(), outputs: [Host.Output] = [], packets: [[UInt8]] = []
        func note(_ output: Host.Output) {
            if case .packet(let packet) = output { packets.append(packet) } else { outputs.append(output) }
        }
        outbox.append(.resetTransport)
        outbox.send(command)
        outbox.append(.note(.unknownLink(link)))
        outbox.send(.writeCommand, AttributeHandle(wire: 9), [1, 2, 3], limit: 2, on: link)
        for _ in 0..<alone { if let output = outbox.next() { note(output) } }
        var rest: [Host.Output] = [], last = OutgoingPackets()
        outbox.takeAll(into: &rest, &last)
        outputs += rest
        last.forEach { packets.append([UInt8](copying: $0)) }
        #expect(packets == [command, [0x02, 0x40, 0, 9, 0, 5, 0, 4, 0, 0x52, 9, 0, 1, 2]])
        #expect(outputs == [.resetTransport, .note(.unknownLink(link))])
        #expect(outbox.next() == nil)
    }

    @Test("Sent packets are reported as one count per client and kind, in order with the other events")
    func taken() {
        let peer = PeerIdentifier(rawValue: 7)
        var outbox = HostOutbox()
        outbox.report(to: client, taken: .updates)
        outbox.report(to: client, .server(.updatesTaken(2)))
        outbox.report(to: client, taken: .writeCommands(to: peer))
        outbox.report(to: other, taken: .writeCommands(to: peer))
        outbox.report(to: other, .stateChanged(.poweredOn))
        outbox.report(to: other, taken: .writeCommands(to: peer))
        var told: [Host.Output] = []
        while let output = outbox.next() { told.append(output) }
        #expect(
            told == [
                .event(.server(.updatesTaken(3)), for: client),
                .event(.peer(peer, .writeCommandsTaken(1)), for: client),
                .event(.peer(peer, .writeCommandsTaken(1)), for: other),
                .event(.stateChanged(.poweredOn), for: other),
                .event(.peer(peer, .writeCommandsTaken(1)), for: other),
            ]
        )
    }
}
