import BLEHost
import BLEWire
import Testing

@testable import CoreBluetooth

@Suite("Requests to a peripheral")
struct PeripheralRequestsTests {
    private func read(_ number: Int) -> PeerRequest { .read(AttributeHandle(wire: UInt16(number))) }

    private func answer(_ number: Int) -> PeerEvent {
        .valueRead(AttributeHandle(wire: UInt16(number)), .success([]))
    }

    private let strength = PeerEvent.rssiRead(.success(RSSI(dBm: -40)))

    /// Takes an event, and returns how many answers are told, and what is sent.
    ///
    /// Requests are numbered from 1 on, in the order in which they are added.
    private func receive(
        _ event: PeerEvent,
        answering number: UInt32 = 0,
        _ queue: inout PeripheralRequests
    ) -> (told: Int, sent: [PeerRequest]) {
        guard case .deliver = queue.receive(event, answering: RequestNumber(rawValue: number)) else {
            return proceed(&queue)
        }
        let begun = queue.begin().map(\.request), rest = proceed(&queue)
        return (1 + rest.told, begun + rest.sent)
    }

    private func proceed(_ queue: inout PeripheralRequests) -> (told: Int, sent: [PeerRequest]) {
        var told = 0, sent: [PeerRequest] = []
        while true {
            let (answer, requests) = queue.proceed()
            sent += requests.map(\.request)
            if answer == nil { return (told, sent) }
            told += 1
        }
    }

    /// Adds requests, and returns those that are sent at once.
    private func submit(_ requests: [PeerRequest], _ queue: inout PeripheralRequests) -> [PeerRequest] {
        var sent: [PeerRequest] = []
        for request in requests where queue.submit(request) != nil { sent.append(request) }
        return sent
    }

    @Test("Every request is sent once and in order, whenever responses arrive", arguments: [1, 3, 16, 50])
    func order(burst: Int) {
        var queue = PeripheralRequests(), sent: [PeerRequest] = [], answered = 0, told = 0
        func answerNext() {
            answered += 1
            let step = receive(answer(answered), answering: UInt32(answered), &queue)
            (told, sent) = (told + step.told, sent + step.sent)
        }
        for number in 1...200 {
            sent += submit([read(number)], &queue)
            while number.isMultiple(of: burst), answered < sent.count { answerNext() }
            #expect(sent.count - answered <= PeripheralRequests.limit)
        }
        while answered < sent.count { answerNext() }
        #expect(sent == (1...200).map(read))
        #expect(told == 200)
        #expect(queue.count == 0)
    }

    @Test("Write commands wait behind requests, but not for responses of their own")
    func commands() {
        var queue = PeripheralRequests()
        let command = PeerRequest.writeCommand(AttributeHandle(wire: 1), [])
        let sent = submit((1...PeripheralRequests.limit).map(read) + [command, command, read(99)], &queue)
        #expect(sent == (1...PeripheralRequests.limit).map(read))
        let strays =
            [(.valueNotified(AttributeHandle(wire: 1), []), 0), (answer(1), 0), (answer(1), 77)]
            as [(PeerEvent, UInt32)]
        for (stray, number) in strays {
            let step = receive(stray, answering: number, &queue)
            #expect((step.told, step.sent.count) == (0, 0))
        }
        let next = receive(answer(1), answering: 1, &queue)
        #expect(next.sent == [command, command, read(99)])
        let late = submit([command], &queue)
        #expect(late.isEmpty)
        let answers = queue.removeAll(.notConnected)
        #expect(answers.count == PeripheralRequests.limit + 1)
        let fresh = submit([command], &queue)
        #expect(fresh == [command])
    }

    @Test("An early response, or a request that needs none, is delivered in order")
    func early() {
        var queue = PeripheralRequests()
        let sent = submit([read(1), .readRSSI], &queue)
        #expect(sent == [read(1), .readRSSI])
        queue.submit(read(2), answer: .call(.nameUpdated))
        let early = receive(strength, answering: 2, &queue)
        #expect((early.told, early.sent) == (0, []))
        let all = receive(answer(1), answering: 1, &queue)
        #expect((all.told, all.sent) == (3, []))
    }

    @Test(
        "Nothing is sent behind a request that the host would answer out of order",
        arguments: [
            ([.readRSSI], true), ([.tune(.dataLength(octets: 27))], true), ([.openChannel(.none)], true),
            ([.read(.none), .openChannel(.none)], false), ([.discoverServices(only: [])], false),
        ] as [([PeerRequest], Bool)]
    )
    func barriers(requests: [PeerRequest], isBarrier: Bool) {
        var queue = PeripheralRequests()
        let command = PeerRequest.writeCommand(.none, []), last = requests[requests.count - 1]
        let isChannel = last == .openChannel(.none)
        let sent = submit(requests, &queue)
        #expect(sent == (requests.count > 1 && isChannel ? requests.dropLast() : requests))
        if sent == requests {
            let passing = submit([command], &queue)
            #expect(passing == [command])
        }
        let behind = submit([read(9), command], &queue)
        #expect(behind.isEmpty == (isBarrier || isChannel))
        var rest: [PeerRequest] = []
        for (index, request) in requests.enumerated() {
            rest += receive(request.answer(.notConnected), answering: UInt32(index + 1), &queue).sent
        }
        #expect(sent + behind + rest == requests + [read(9), command])
    }

    @Test("Requests about removed attributes are answered immediately, and their late responses match no other request")
    func gone() throws {
        var queue = PeripheralRequests()
        let place = try #require(AttributeHandleRange(AttributeHandle(wire: 5)))
        _ = submit([read(1), read(5)], &queue)
        queue.submit(read(5), answer: .call(.nameUpdated))
        queue.submit(read(6), answer: .call(.nameUpdated))
        queue.submit(nil, answer: .call(.nameUpdated))
        _ = submit([.readRSSI, read(5), .writeCommand(AttributeHandle(wire: 5), [])], &queue)
        let answers = queue.cancelRequests(in: [place])
        #expect(answers.map(\.number.rawValue) == [2, 3, 7, 0])
        let first = receive(answer(1), answering: 1, &queue)
        #expect((first.told, first.sent) == (3, []))
        guard case .stale = queue.receive(answer(5), answering: RequestNumber(rawValue: 2)) else {
            Issue.record("the app has had this answer")
            return
        }
        let rest = proceed(&queue)
        #expect((rest.told, rest.sent) == (0, []))
        let strengths = receive(strength, answering: 6, &queue)
        #expect(strengths.told == 1)
        #expect(queue.count == 0)
    }

    @Test("A pending subscription change is known until it is reported")
    func changing() {
        var queue = PeripheralRequests()
        let handle = AttributeHandle(wire: 3), subscribe = PeerRequest.subscribe(.notifications, to: handle, in: nil)
        _ = submit([read(1), subscribe], &queue)
        #expect(queue.isChanging(handle))
        #expect(!queue.isChanging(AttributeHandle(wire: 1)))
        _ = receive(.subscriptionChanged(handle, .notifications, nil), answering: 2, &queue)
        #expect(queue.isChanging(handle))
        _ = receive(answer(1), answering: 1, &queue)
        #expect(!queue.isChanging(handle))
    }

    @Test("Responses to identical requests are matched in any order, and none counts twice")
    func alike() throws {
        var queue = PeripheralRequests(), told: [UInt8] = []
        func hear(_ value: UInt8, _ number: UInt32) {
            let event = PeerEvent.valueRead(AttributeHandle(wire: 1), .success([value]))
            if case .deliver = queue.receive(event, answering: RequestNumber(rawValue: number)) {
                told.append(value)
            }
            while case .event(.valueRead(_, .success(let value)))? = queue.proceed().answer?.answer { told += value }
        }
        _ = submit([read(1), read(1), read(1)], &queue)
        for (value, number) in [(2, 2), (3, 3), (1, 1), (9, 1), (9, 3)] as [(UInt8, UInt32)] { hear(value, number) }
        #expect(told == [1, 2, 3])
        #expect(queue.count == 0)
    }

    @Test("Results have the numbers of their requests, however the requests end")
    func numbered() {
        var queue = PeripheralRequests()
        let reserved = queue.reserveNumber()
        let first = queue.submit(read(1)), second = queue.submit(read(1), as: reserved)
        #expect([reserved, first, second].map(\.?.rawValue) == [1, 2, 1])
        queue.submit(nil, answer: .call(.nameUpdated))
        _ = receive(answer(1), answering: 2, &queue)
        _ = queue.receive(answer(1), answering: reserved)
        #expect(queue.proceed().answer?.number.rawValue == 3)
        _ = submit([read(2), .readRSSI, read(3)], &queue)
        _ = queue.receive(strength, answering: RequestNumber(rawValue: 5))
        #expect(queue.removeAll(.notConnected).map(\.number.rawValue) == [4, 5, 6])
    }

    @Test("Requests still pending at the host count toward the limit even after the app was answered")
    func toldEarly() throws {
        var queue = PeripheralRequests()
        let place = try #require(AttributeHandleRange(AttributeHandle(wire: 5)))
        _ = submit(Array(repeating: read(5), count: PeripheralRequests.limit), &queue)
        #expect(queue.cancelRequests(in: [place]).count == PeripheralRequests.limit)
        let crowded = submit([read(6)], &queue)
        #expect(crowded.isEmpty)
        let next = receive(answer(5), answering: 1, &queue)
        #expect((next.told, next.sent) == (0, [read(6)]))
    }
}
