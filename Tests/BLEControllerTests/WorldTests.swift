import BLEController
import BLEWire
import Testing

@Suite("Many controllers")
struct WorldTests {
    @Test("One central holds twenty connections and moves data on all of them", arguments: UInt64(0)..<16)
    func twentyLinks(seed: UInt64) throws {
        var bench = Bench(seed: seed)
        let central = bench.add()
        var pairs: [Bench.Pair] = []
        for _ in 0..<20 {
            let board = bench.add()
            let pair = bench.connect(central, board, parameters: Bench.parameters(interval: 24, timeout: 600))
            pairs.append(try #require(pair))
        }
        bench.air.conditions.loss = 0.2
        #expect(Set(pairs.map(\.central)).count == 20)
        for turn in UInt8(0)..<5 {
            for (index, pair) in pairs.enumerated() {
                bench.send([turn, UInt8(index)], on: pair.peripheral, index + 1)
                if index < 16 { bench.send([turn, UInt8(index)], on: pair.central, central) }
            }
            bench.run(for: .seconds(1))
        }
        for (index, pair) in pairs.enumerated() {
            let expected = (UInt8(0)..<5).flatMap { [$0, UInt8(index)] }
            #expect(bench.received(central, pair.central) == expected)
            #expect(bench.received(index + 1, pair.peripheral) == (index < 16 ? expected : []))
        }
    }

    @Test("A controller is central, peripheral, scanner and advertiser at the same time")
    func everyRole() throws {
        var bench = Bench()
        let middle = bench.add(), above = bench.add(), below = bench.add(), distant = bench.add()
        let asPeripheral = bench.connect(above, middle)
        let asCentral = bench.connect(middle, below)
        let (first, second) = try (#require(asPeripheral), #require(asCentral))
        bench.advertise(middle, data: [1, 2])
        bench.advertise(distant, data: [3, 4])
        bench.scan(middle)
        bench.scan(distant)
        bench.send([1], on: first.peripheral, middle)
        bench.send([2], on: second.central, middle)
        bench.run(for: .seconds(2))
        #expect(bench.received(above, first.central) == [1] && bench.received(below, second.peripheral) == [2])
        #expect(bench.reports(middle).contains { $0.data == [3, 4] })
        #expect(bench.reports(distant).contains { $0.data == [1, 2] })
    }

    @Test("Only one of several initiators connects, and the others keep trying", arguments: UInt64(0)..<16)
    func rivals(seed: UInt64) {
        var bench = Bench(seed: seed)
        let peripheral = bench.add()
        let rivals = (0..<5).map { _ in bench.add() }
        for rival in rivals { bench.initiate(rival, to: Bench.address(peripheral)) }
        for count in 1...5 {
            bench.advertise(peripheral)
            bench.run(for: .seconds(2))
            let connected = rivals.filter { rival in
                bench.events(rival).contains { $0.subevent == .enhancedConnectionComplete }
            }
            #expect(connected.count == count)
        }
        #expect(rivals.allSatisfy { !bench.events($0).contains { $0.code == .disconnectionComplete } })
    }

    private func trace(seed: UInt64) -> [String] {
        var bench = Bench(seed: seed, loss: 0.2)
        bench.keepsTrace = true
        let hub = bench.add()
        for _ in 0..<4 { bench.add() }
        bench.air.recordsAir = true
        bench.advertise(3, response: [1, 8])
        bench.advertise(4)
        bench.scan(hub, type: .active)
        for board in 1..<3 {
            if let pair = bench.connect(hub, board) { bench.send([1, 2, 3], on: pair.central, hub) }
        }
        bench.run(for: .seconds(2))
        return bench.trace
    }

    @Test("The same seed gives the same run, and another seed gives another")
    func determinism() {
        let first = trace(seed: 42), again = trace(seed: 42), other = trace(seed: 43)
        #expect(first.count > 500)
        let isSame = first == again, isOther = first != other
        #expect(isSame && isOther)
    }

    @Test("A reset at any moment leaves a controller in its initial state", arguments: UInt64(0)..<16)
    func reset(seed: UInt64) {
        var bench = Bench(seed: seed, loss: 0.1)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<4 { bench.add() }
        for _ in 0..<10 {
            let (central, peripheral) = (Int(random.below(2)), 2 + Int(random.below(2)))
            bench.advertise(peripheral)
            bench.scan(central, type: .active)
            bench.initiate(central, to: Bench.address(peripheral))
            bench.run(for: .milliseconds(random.below(400)))
            let victim = random.happens(0.5) ? central : peripheral
            #expect(bench.ask(.reset, victim) == .success)
            let count = bench.said[victim].count
            bench.run(for: .milliseconds(random.below(100)))
            #expect(bench.said[victim].count == count)
            bench.wantEverything(victim)
        }
        for board in 0..<4 {
            #expect(bench.ask(.reset, board) == .success)
            bench.wantEverything(board)
        }
        bench.run(for: .seconds(3))
        bench.air.conditions.loss = 0
        let pair = bench.connect(0, 3)
        #expect(pair != nil)
    }

    @Test("No bytes from a host crash a controller or leave it without a response", arguments: UInt64(0)..<16)
    func garbage(seed: UInt64) {
        var bench = Bench(seed: seed)
        var random = SeededGenerator(seed: seed)
        for index in 0..<6 { bench.add(index == 5 ? .legacyOnly : .core5) }
        var generator = CommandGenerator(seed: seed)
        for round in 0..<3_000 {
            let board = Int(random.below(6))
            let before = bench.said[board].count
            switch random.below(10) {
            case 0:
                bench.send((0..<random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }, board)
            case 1:
                let handle = UInt16(random.below(8)), flags = UInt16(random.below(4)) << 12
                let octets = (0..<random.below(60)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                let length = UInt16(octets.count)
                bench.send([2] + (handle | flags).littleEndianOctets + length.littleEndianOctets + octets, board)
            case 2:
                let opcode = UInt16(0x2000 + random.below(0x80)), length = UInt8(random.below(40))
                let octets = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                bench.send([1] + opcode.littleEndianOctets + [length] + octets, board)
                #expect(bench.said[board].count > before)
            default:
                bench.send(generator.next(), board)
                #expect(bench.said[board].count > before, "round \(round)")
            }
            if random.happens(0.3) { bench.run(for: .microseconds(random.below(200_000))) }
        }
    }
}
