import BLEHost
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Request queue")
struct RequestQueueTests {
    private func read(_ number: Int) -> PeerRequest { .read(AttributeHandle(wire: UInt16(number))) }

    private func answer(_ number: Int) -> PeerEvent {
        .valueRead(AttributeHandle(wire: UInt16(number)), .success([]))
    }

    @Test("sends everything once and in order, whenever answers come", arguments: [1, 3, 16, 50])
    func order(burst: Int) {
        var queue = RequestQueue(), sent: [PeerRequest] = [], answered = 0
        for number in 1...200 {
            if queue.submit(read(number)) { sent.append(read(number)) }
            while number.isMultiple(of: burst), answered < sent.count {
                answered += 1
                sent += queue.receive(answer(answered))
            }
            #expect(sent.count - answered <= RequestQueue.limit)
        }
        while answered < sent.count {
            answered += 1
            sent += queue.receive(answer(answered))
        }
        #expect(sent == (1...200).map(read))
    }

    @Test("lets write commands wait behind requests, but not for answers of their own")
    func commands() {
        var queue = RequestQueue()
        let command = PeerRequest.writeCommand(AttributeHandle(wire: 1), [])
        let isSent = ((1...RequestQueue.limit).map(read) + [command, command, read(99)]).map { queue.submit($0) }
        #expect(isSent == Array(repeating: true, count: RequestQueue.limit) + [false, false, false])
        let none = Array(queue.receive(.valueNotified(AttributeHandle(wire: 1), []))) + queue.receive(answer(77))
        #expect(none.isEmpty)
        let next = Array(queue.receive(answer(3)))
        #expect(next == [command, command, read(99)])
        let isLateSent = queue.submit(command), left = queue.removeAll()
        #expect(!isLateSent)
        #expect(left == (1...RequestQueue.limit).filter { $0 != 3 }.map(read) + [read(99), command])
        let isFreshSent = queue.submit(command)
        #expect(isFreshSent)
    }
}
