import BLEWire

extension World {
    /// A kind of fault that ``explore(seeds:faults:attempts:_:)`` tries, and the machine that it affects.
    public struct Hazard: Hashable, Sendable {
        /// The kind of fault.
        public var kind: Fault.Kind
        /// The name of the machine.
        public var machine: String

        /// Creates a hazard.
        public init(_ kind: Fault.Kind, of machine: String) {
            self.kind = kind
            self.machine = machine
        }
    }

    /// A failed run of a test, with the fewest and earliest faults with which ``explore(seeds:faults:attempts:_:)``
    /// could make the test fail.
    public struct Failure: Error, CustomStringConvertible {
        /// The seed of the world.
        public let seed: UInt64
        /// The faults that make the test fail, as few as the exploration has found; empty if the test fails without
        /// faults.
        public let faults: [Fault]
        /// The error that the test threw.
        public let error: any Error
        /// The ``World/story`` of the failed run.
        public let story: String

        /// The line of Swift code that repeats the run.
        public var repetition: String {
            let faults = faults.map { "\($0)".debugDescription }.joined(separator: ", ")
            return "try await World.replay(seed: \(seed), faults: [\(faults)]) { world in … }"
        }

        /// A description with the line that repeats the run.
        public var description: String {
            let cause =
                switch faults.count {
                case 0: "The test fails without any fault."
                case 1: "1 fault is enough to break the test."
                default: "\(faults.count) faults together break the test."
                }
            return "\(error)\n\n\(cause) Repeat with:\n\n    \(repetition)\n\n\(story)"
        }
    }

    /// Runs a test in many worlds with faults at random moments, until one of them fails.
    ///
    /// For each seed, `body` runs first without faults, which also shows the duration and the number of packets of the
    /// run. Then it runs `attempts` times with one to three faults, each at a packet or a time of the first run. When
    /// `body` throws, this method removes faults one by one and moves them to earlier moments, as long as `body` still
    /// throws.
    ///
    /// `body` creates its own machines in the given world, and reports a failure by throwing. So use `try #require`
    /// rather than `#expect`, which does not throw.
    ///
    /// ```swift
    /// try await World.explore(seeds: 0..<50, faults: [.init(.linkLoss(.seconds(6)), of: "sensor")]) { world in
    ///     let app = …
    ///     await world.advance(by: .seconds(60))
    ///     guard app.total == 10 else { throw LostUpdate() }
    /// }
    /// ```
    ///
    /// - Throws: ``Failure`` for the first run that breaks the test.
    public static func explore(
        seeds: Range<UInt64>,
        faults hazards: [Hazard],
        attempts: Int = 8,
        _ body: (World) async throws -> Void
    ) async throws(Failure) {
        for seed in seeds {
            let calm = await attempt(seed, [], body)
            if let failure = calm.failure { throw failure }
            guard !hazards.isEmpty else { continue }
            var random = SeededGenerator(seed: seed ^ 0xFA17)
            for _ in 0..<attempts {
                let faults = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    draw(hazards, calm.world, &random)
                }
                if let failure = await attempt(seed, faults, body).failure { throw await shrink(failure, body) }
            }
        }
    }

    /// Repeats a run from ``Failure/repetition``.
    ///
    /// - Throws: ``Failure`` if it fails again.
    public static func replay(
        seed: UInt64,
        faults: [String],
        _ body: (World) async throws -> Void
    ) async throws(Failure) {
        let faults = faults.map { text in
            guard let fault = Fault(text) else {
                preconditionFailure("“\(text)” must be a fault, such as “linkLoss 6000 ms at packet 40 of phone”")
            }
            return fault
        }
        if let failure = await attempt(seed, faults, body).failure { throw failure }
    }

    private static func attempt(
        _ seed: UInt64,
        _ faults: [Fault],
        _ body: (World) async throws -> Void
    ) async -> (world: World, failure: Failure?) {
        let world = World(seed: seed)
        world.plan(faults)
        do {
            try await body(world)
            return (world, nil)
        } catch {
            return (world, Failure(seed: seed, faults: faults, error: error, story: world.story))
        }
    }

    /// Returns a random fault, at a random time or packet of `calm`, the run without faults.
    private static func draw(_ hazards: [Hazard], _ calm: World, _ random: inout SeededGenerator) -> Fault {
        let hazard = hazards[Int.random(in: hazards.indices, using: &random)]
        let packets = calm.machine(hazard.machine).packetCount
        if packets > 0, Bool.random(using: &random) {
            return Fault(hazard.kind, at: .packet(Int.random(in: 1...packets, using: &random)), of: hazard.machine)
        }
        let milliseconds = Int64.random(in: 0...max(1, Int64(calm.now / .milliseconds(1))), using: &random)
        return Fault(hazard.kind, at: .time(.milliseconds(milliseconds)), of: hazard.machine)
    }

    /// Removes faults as long as the test still fails, then moves the remaining faults to earlier moments.
    private static func shrink(_ failure: Failure, _ body: (World) async throws -> Void) async -> Failure {
        var smallest = failure
        var index = 0
        while index < smallest.faults.count {
            var fewer = smallest.faults
            fewer.remove(at: index)
            if let smaller = await attempt(failure.seed, fewer, body).failure {
                smallest = smaller
            } else {
                index += 1
            }
        }
        for index in smallest.faults.indices {
            while let earlier = smallest.faults[index].halved {
                var faults = smallest.faults
                faults[index] = earlier
                guard let smaller = await attempt(failure.seed, faults, body).failure else { break }
                smallest = smaller
            }
        }
        return smallest
    }
}

extension World.Fault {
    /// The same fault at half the time or number of packets; `nil` if there is no such moment.
    fileprivate var halved: Self? {
        var half = self
        switch moment {
        case .packet(let number) where number > 1: half.moment = .packet(number / 2)
        case .time(let age) where age >= .milliseconds(2):
            half.moment = .time(.milliseconds(Int64(age / .milliseconds(1)) / 2))
        case .packet, .time, .step: return nil
        }
        return half
    }
}
