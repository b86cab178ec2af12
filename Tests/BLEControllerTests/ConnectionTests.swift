import BLEController
import BLEWire
import Testing

/// Core 6.0, Vol 6, Part B, 4.5.
@Suite("Connections")
struct ConnectionTests {
    @Test("Both hosts receive the connection event, with their roles and the requested timing")
    func establishing() throws {
        var bench = Bench()
        let central = bench.add(), peripheral = bench.add()
        let pair = bench.connect(central, peripheral, parameters: Bench.parameters(interval: 40, timeout: 200))
        let handles = try #require(pair)
        for (board, role, peer) in [(central, HCI.Role.central, 1), (peripheral, .peripheral, 0)] {
            let events = bench.events(board)
            guard case .leEnhancedConnectionComplete(let event) = events[0] else {
                Issue.record("the first event is another: \(events)")
                continue
            }
            #expect(event.role == role)
            #expect(event.peer == Bench.address(peer))
            #expect(event.interval.wire == 40)
            #expect(event.timeout.wire == 200)
            #expect(events[1] == .leChannelSelectionAlgorithm(.init(handle: event.handle, algorithm: 1)))
        }
        bench.run(for: .seconds(60))
        #expect(bench.ending(central, handles.central) == nil)
        #expect(bench.ending(peripheral, handles.peripheral) == nil)
    }

    @Test("Data arrives in order and once, and is counted, however lossy the air", arguments: UInt64(0)..<16)
    func delivery(seed: UInt64) throws {
        for loss in [0.3, 0.5] {
            var bench = Bench(seed: seed)
            let central = bench.add(), peripheral = bench.add()
            let pair = bench.connect(central, peripheral, parameters: Bench.parameters(interval: 6, timeout: 3200))
            let handles = try #require(pair)
            bench.run(for: .seconds(1))
            bench.air.conditions.loss = loss
            var sent: [UInt8] = []
            for turn in UInt8(0)..<40 {
                let octets = (0..<100).map { turn &* 3 &+ $0 }
                sent += octets
                bench.send(octets, on: handles.central, central)
                bench.send(octets, on: handles.peripheral, peripheral)
                bench.run(for: .milliseconds(150))
            }
            bench.run(for: .seconds(5))
            let areWhole =
                bench.received(peripheral, handles.peripheral) == sent
                && bench.received(central, handles.central) == sent
            #expect(areWhole)
            #expect(bench.completed(central, handles.central) == 40)
            #expect(bench.completed(peripheral, handles.peripheral) == 40)
        }
    }

    @Test(
        "The air carries data until the peer has it and the sender has the acknowledgement",
        arguments: [true, false]
    )
    func carrying(fromCentral: Bool) throws {
        var bench = Bench()
        let boards = (central: bench.add(), peripheral: bench.add())
        let pair = bench.connect(boards.central, boards.peripheral)
        let handles = try #require(pair)
        bench.run(for: .seconds(2))
        let before = bench.air.hasDataInFlight
        #expect(!before)
        let (sender, handle) =
            fromCentral ? (boards.central, handles.central) : (boards.peripheral, handles.peripheral)
        bench.send([1, 2, 3], on: handle, sender)
        let after = bench.air.hasDataInFlight
        #expect(after)
        var steps = 0
        while bench.air.hasDataInFlight, let due = bench.air.deadline, steps < 100 {
            #expect(bench.completed(sender, handle) == 0)
            bench.run(until: due)
            steps += 1
        }
        #expect(bench.completed(sender, handle) == 1)
        #expect(
            fromCentral
                ? bench.received(boards.peripheral, handles.peripheral) == [1, 2, 3]
                : bench.received(boards.central, handles.central) == [1, 2, 3]
        )
    }

    @Test(
        "An event carries as many packets as end before the next event, in either direction",
        arguments: [(6, true, 5), (6, false, 3), (12, true, 10), (12, false, 6)],
        [true, false]
    )
    func fullEvents(_ row: (interval: UInt16, is2M: Bool, packets: Int), fromCentral: Bool) throws {
        var bench = Bench()
        for board in [bench.add(), bench.add()] {
            bench.send(.leWriteSuggestedDefaultDataLength(.init(octets: 251, time: 17_040)), board)
        }
        let pair = bench.connect(0, 1, parameters: Bench.parameters(interval: row.interval))
        let handles = try #require(pair)
        if row.is2M { bench.send(.leSetPHY(.init(handle: handles.central, transmit: .le2M, receive: .le2M)), 0) }
        bench.run(for: .seconds(2))
        bench.air.recordsAir = true
        let (sender, handle) = fromCentral ? (0, handles.central) : (1, handles.peripheral)
        let value = [UInt8](repeating: 1, count: 251)
        for _ in 0..<16 { bench.send(value, on: handle, sender) }
        bench.run(for: .milliseconds(100))
        #expect(bench.received(1 - sender, fromCentral ? handles.peripheral : handles.central).count == 16 * 251)
        let instants = bench.records.filter { $0.pdu.count == 253 }.map(\.instant)
        let first = try #require(instants.first), interval = Int64(row.interval) * 1_250_000
        let events = instants.map { Int($0.nanoseconds(since: first) / interval) }
        #expect(events == (0..<16).map { $0 / row.packets })
    }

    @Test("An initiator waits while its controller has the maximum number of connections")
    func limit() throws {
        var bench = Bench()
        let board = bench.add(maximumConnections: 1), central = bench.add(), peripheral = bench.add()
        func handles(_ bench: borrowing Bench) -> [ConnectionHandle] {
            bench.events(board).compactMap { event in
                if case .leEnhancedConnectionComplete(let event) = event { event.handle } else { nil }
            }
        }
        bench.initiate(board, to: Bench.address(peripheral))
        bench.advertise(board)
        bench.initiate(central, to: Bench.address(board))
        bench.run(for: .seconds(1))
        bench.advertise(peripheral)
        bench.run(for: .seconds(1))
        #expect(handles(bench).count == 1)
        let handle = try #require(handles(bench).first)
        let disconnect = HCI.Disconnect(handle: handle, reason: .remoteUserTerminatedConnection)
        #expect(bench.ask(.disconnect(disconnect), board) == .success)
        bench.run(for: .seconds(1))
        #expect(handles(bench).count == 2)
    }

    @Test("carryOn() advances the air one step at a time until the data has arrived, and no further")
    func carryingOn() throws {
        var bench = Bench()
        let central = bench.add(), peripheral = bench.add()
        let pair = bench.connect(central, peripheral)
        let handles = try #require(pair)
        bench.run(for: .seconds(2))
        let idle = bench.air.runNext()
        #expect(idle == nil)
        bench.send([1, 2, 3], on: handles.central, central)
        var due = bench.air.deadline, steps = 0
        while let done = bench.air.runNext(), steps < 100 {
            #expect(done == due)
            due = bench.air.deadline
            steps += 1
        }
        #expect(steps > 0 && steps < 100)
        bench.run(until: bench.now)
        #expect(bench.completed(central, handles.central) == 1)
        #expect(bench.received(peripheral, handles.peripheral) == [1, 2, 3])
    }

    @Test(
        "Either end can close a connection, and each host receives the event with its reason",
        arguments: [true, false]
    )
    func termination(byCentral: Bool) throws {
        var bench = Bench()
        let central = bench.add(), peripheral = bench.add()
        let pair = bench.connect(central, peripheral)
        let handles = try #require(pair)
        let (board, handle) = byCentral ? (central, handles.central) : (peripheral, handles.peripheral)
        bench.send(.disconnect(.init(handle: handle, reason: .remoteUserTerminatedConnection)), board)
        #expect(bench.lastStatus(board) == .success)
        bench.run(for: .milliseconds(200))
        let own: HCI.Status = .connectionTerminatedByLocalHost, other: HCI.Status = .remoteUserTerminatedConnection
        #expect(bench.ending(central, handles.central) == (byCentral ? own : other))
        #expect(bench.ending(peripheral, handles.peripheral) == (byCentral ? other : own))
        #expect(bench.ask(.disconnect(.init(handle: handle, reason: other)), board) == .unknownConnectionIdentifier)
    }

    @Test("A controller that receives nothing for the supervision timeout loses the link, to the microsecond")
    func supervision() throws {
        var bench = Bench()
        let central = bench.add(), peripheral = bench.add()
        let pair = bench.connect(central, peripheral, parameters: Bench.parameters(interval: 24, timeout: 100))
        let handles = try #require(pair)
        bench.run(for: .seconds(1))
        bench.air.remove(ControllerID(rawValue: peripheral), at: bench.now)
        let gone = bench.now
        bench.run(for: .milliseconds(960))
        #expect(bench.ending(central, handles.central) == nil)
        bench.run(for: .milliseconds(40))
        #expect(bench.ending(central, handles.central) == .connectionTimeout)
        let last = try #require(bench.said[central].last)
        #expect(last.instant > gone + .milliseconds(960) && last.instant <= gone + .seconds(1))
    }

    @Test("Only the initiator loses the link if its connection request is lost, after six intervals")
    func lostRequest() throws {
        var bench = Bench()
        let central = bench.add(), peripheral = bench.add()
        bench.air[faults: ControllerID(rawValue: peripheral)].lostConnectIndications = 1
        bench.advertise(peripheral)
        bench.initiate(central, to: Bench.address(peripheral), parameters: Bench.parameters(interval: 24))
        bench.run(for: .seconds(1))
        let said = bench.said[central].filter { said in
            switch said.event {
            case .leEnhancedConnectionComplete, .disconnectionComplete: true
            default: false
            }
        }
        #expect(said.count == 2)
        guard case .leEnhancedConnectionComplete(let made) = said[0].event,
            case .disconnectionComplete(let lost) = said[1].event
        else {
            Issue.record("the events are others: \(said)")
            return
        }
        #expect(made.status == .success && lost.handle == made.handle)
        #expect(lost.reason == .connectionFailedToBeEstablished)
        #expect(said[1].instant - said[0].instant == .milliseconds(180))
        #expect(bench.events(peripheral).isEmpty)
    }
}
