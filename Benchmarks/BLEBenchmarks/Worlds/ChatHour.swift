import BLESimulation

/// A benchmark of one simulated hour in a chat room with eight machines, with a packet loss of 30 %.
///
/// One machine is the room; the others are guests that have discovered it. Each machine sends a line every five
/// seconds, and the room sends it to all guests. Each guest must receive every line once, in the order in which the
/// room sends them.
enum ChatHour {
    private static let guests = 7
    private static let seconds = 3_600
    private static let interval = 5

    static func measure(seed: UInt64) -> Result { MainLoop.wait { await run(seed: seed) } }

    private static func run(seed: UInt64) async -> Result {
        let wall = Stopwatch(.wall), processor = Stopwatch(.processor)
        let world = World(seed: seed, conditions: .init(loss: 0.3))
        let room = ChatRoom(on: world.machine("room"))
        let guests = (1...Self.guests).map { number in
            ChatGuest(number, on: world.machine("guest \(number)", at: .init(x: Double(number % 3), y: 1)))
        }
        var patience = 120
        while !guests.allSatisfy(\.hasJoined), patience > 0 {
            await world.advance(by: .seconds(1))
            patience -= 1
        }
        for second in 0..<Self.seconds {
            if second % interval == 0 { room.sayNext() }
            for guest in guests where (second + guest.number) % interval == 0 { guest.sayNext() }
            await world.advance(by: .seconds(1))
        }
        await world.advance(by: .seconds(10))
        let said = (Self.guests + 1) * Self.seconds / interval
        let passed = room.passed
        return Result(
            workload: "chat-hour",
            explanation: "an hour of chat between 8 machines, 30 % loss",
            figures: [
                .init("seed", .count(Int(truncatingIfNeeded: seed))),
                .init("said", .count(said)),
                .init("delivered", .count(guests.reduce(0) { $0 + $1.heard.count })),
                .init("wall_seconds", .number(wall.seconds)),
                .init("cpu_seconds", .number(processor.seconds)),
                .init("hash", .text(String(world.traceHash, radix: 16))),
            ],
            isGood: passed.count == said && isOrdered(passed) && guests.allSatisfy { $0.heard == passed }
        )
    }

    /// Returns whether the lines of each speaker are complete and in order.
    private static func isOrdered(_ lines: [ChatLine]) -> Bool {
        var next: [UInt8: UInt32] = [:]
        for line in lines {
            guard line.number == next[line.speaker, default: 0] else { return false }
            next[line.speaker] = line.number + 1
        }
        return true
    }
}
