import BLEController
import BLEWire
import Testing

@Suite("Faults")
struct FaultTests {
    /// Adds two boards and connects them.
    private static func link(_ bench: inout Bench) throws -> Bench.Pair {
        bench.add()
        bench.add()
        let pair = bench.connect(0, 1)
        bench.run(for: .seconds(1))
        return try #require(pair)
    }

    @Test("A muted controller ignores commands and sends nothing, and works again when unmuted")
    func mute() {
        var bench = Bench()
        let board = bench.add(), id = ControllerID(rawValue: board)
        bench.air[faults: id].isMute = true
        bench.send(.leRand, board)
        #expect(bench.said[board].isEmpty)
        #expect(bench.notes == [.muted])
        bench.air[faults: id].isMute = false
        #expect(bench.ask(.leRand, board) == .success)
    }

    @Test("About as many of a controller's events get lost as the test asks for")
    func droppedEvents() {
        var bench = Bench()
        let board = bench.add()
        bench.air[faults: ControllerID(rawValue: board)].dropEvents = 0.25
        for _ in 0..<1_000 { bench.send(.leRand, board) }
        #expect(700...800 ~= bench.said[board].count)
        #expect(bench.notes.count == 1_000 - bench.said[board].count)
    }

    @Test("Separated controllers do not receive each other, and a connection between them ends on both sides")
    func partition() throws {
        var bench = Bench()
        let pair = try Self.link(&bench)
        let other = bench.add()
        bench.scan(other)
        bench.advertise(1)
        bench.air.partition = [ControllerPair(ControllerID(rawValue: 0), ControllerID(rawValue: 1))]
        bench.scan(0)
        bench.run(for: .seconds(2))
        #expect(bench.ending(0, pair.central) == .connectionTimeout)
        #expect(bench.ending(1, pair.peripheral) == .connectionTimeout)
        #expect(bench.reports(0).isEmpty && !bench.reports(other).isEmpty)
        bench.air.partition = []
        bench.run(for: .seconds(1))
        #expect(!bench.reports(0).isEmpty)
    }

    @Test(
        "A controller that leaves the range is lost by both ends, unless it returns in time",
        arguments: [500, 1_500]
    )
    func walking(milliseconds: Int) throws {
        var bench = Bench()
        let pair = try Self.link(&bench)
        bench.air.move(ControllerID(rawValue: 1), to: Position(x: 5_000))
        bench.run(for: .milliseconds(milliseconds))
        bench.air.move(ControllerID(rawValue: 1), to: Position())
        bench.run(for: .seconds(3))
        let expected: HCI.Status? = milliseconds > 1_000 ? .connectionTimeout : nil
        #expect(bench.ending(0, pair.central) == expected)
        #expect(bench.ending(1, pair.peripheral) == expected)
    }

    @Test("A controller that loses power starts fresh, and only its peer notices the loss", arguments: [true, false])
    func powerCycle(isReset: Bool) throws {
        var bench = Bench()
        let pair = try Self.link(&bench)
        if isReset {
            #expect(bench.ask(.reset, 1) == .success)
        } else {
            bench.air.powerCycle(ControllerID(rawValue: 1), at: bench.now)
        }
        let count = bench.said[1].count
        bench.run(for: .seconds(3))
        #expect(bench.said[1].count == count)
        #expect(bench.ending(0, pair.central) == .connectionTimeout)
        #expect(bench.ask(.readRSSI(.init(handle: pair.peripheral)), 1) == .unknownConnectionIdentifier)
        bench.wantEverything(1)
        let again = bench.connect(0, 1)
        #expect(again != nil)
    }

    @Test("A controller that loses power drops the output that its host has not taken", arguments: [true, false])
    func droppedOutput(isRemoved: Bool) {
        var bench = Bench()
        let first = ControllerID(rawValue: bench.add()), second = ControllerID(rawValue: bench.add())
        // The first output is taken, so that the queue has a gap at its beginning.
        for id in [second, first, second] {
            bench.air.receive(HCICommandPacket.leRand.encoded, from: id, at: bench.now)
        }
        #expect(bench.air.next() != nil)
        if isRemoved {
            bench.air.remove(first, at: bench.now)
        } else {
            bench.air.powerCycle(first, at: bench.now)
        }
        bench.drain()
        #expect(bench.said.map(\.count) == [0, 1])
    }

    @Test("Between two addresses there is one connection at a time, even if one end has forgotten it")
    func oneConnection() throws {
        var bench = Bench()
        let pair = try Self.link(&bench)
        bench.initiate(0, to: Bench.address(1))
        #expect(bench.lastStatus(0) == .connectionAlreadyExists)
        bench.advertise(1)
        #expect(bench.ask(.reset, 0) == .success)
        bench.wantEverything(0)
        bench.initiate(0, to: Bench.address(1))
        bench.run(for: .milliseconds(500))
        let reasons = bench.events(0).compactMap { event -> HCI.Status? in
            if case .disconnectionComplete(let event) = event { event.reason } else { nil }
        }
        #expect(reasons == [.connectionFailedToBeEstablished])
        #expect(bench.ending(1, pair.peripheral) == nil)
        bench.run(for: .seconds(1))
        #expect(bench.ending(1, pair.peripheral) == .connectionTimeout)
        let again = bench.connect(0, 1)
        #expect(again != nil)
    }

    @Test("A disconnection that is never acknowledged completes after the supervision timeout")
    func unansweredGoodbye() throws {
        var bench = Bench()
        let pair = try Self.link(&bench)
        bench.air.partition = [ControllerPair(ControllerID(rawValue: 0), ControllerID(rawValue: 1))]
        let disconnect = HCI.Disconnect(handle: pair.central, reason: .remoteUserTerminatedConnection)
        #expect(bench.ask(.disconnect(disconnect), 0) == .success)
        #expect(bench.ask(.disconnect(disconnect), 0) == .commandDisallowed)
        bench.run(for: .seconds(2))
        #expect(bench.ending(0, pair.central) != nil)
        #expect(bench.ending(1, pair.peripheral) == .connectionTimeout)
    }

    @Test("Data that exceeds the controller's buffers is refused with a note, and data that fits arrives")
    func tooMuchData() throws {
        var bench = Bench()
        let pair = try Self.link(&bench)
        for index in UInt8(0)..<20 { bench.send([index], on: pair.central, 0) }
        #expect(bench.notes == [ControllerNote](repeating: .tooMuchData(pair.central), count: 4))
        bench.send([UInt8](repeating: 0, count: 252), on: pair.central, 0)
        #expect(bench.notes.count == 5)
        bench.run(for: .seconds(1))
        #expect(bench.received(1, pair.peripheral) == Array(0..<16))
        #expect(bench.completed(0, pair.central) == 16)
    }

    @Test("An empty fragment frees its buffer immediately")
    func emptyFragment() throws {
        var bench = Bench()
        let pair = try Self.link(&bench)
        bench.send([], on: pair.central, 0)
        #expect(bench.completed(0, pair.central) == 1)
    }
}
