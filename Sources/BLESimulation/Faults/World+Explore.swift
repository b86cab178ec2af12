import BLEWire

extension World {
    /// A kind of fault that a search may draw, of a machine of this name.
    public struct Hazard: Hashable, Sendable {
        /// What goes wrong.
        public var kind: Fault.Kind
        /// The name of the machine.
        public var machine: String

        /// Creates a hazard.
        public init(_ kind: Fault.Kind, of machine: String) {
            self.kind = kind
            self.machine = machine
        }
    }

    /// A run that something breaks, as small as the search could make it.
    public struct Failure: Error, CustomStringConvertible {
        /// The seed of the world.
        public let seed: UInt64
        /// The fewest faults that break it; none if it breaks by itself.
        public let faults: [Fault]
        /// What the test threw.
        public let error: any Error
        /// ``World/story`` of that run.
        public let story: String

        /// The line that repeats the run, as it stands in Swift.
        public var repetition: String {
            let faults = faults.map { "\($0)".debugDescription }.joined(separator: ", ")
            return "try await World.replay(seed: \(seed), faults: [\(faults)]) { world in … }"
        }

        /// What happened, and how to have it happen again.
        public var description: String {
            let cause =
                switch faults.count {
                case 0: "It fails without any fault."
                case 1: "1 fault is enough to break it."
                default: "\(faults.count) faults together break it."
                }
            return "\(error)\n\n\(cause) Repeat with:\n\n    \(repetition)\n\n\(story)"
        }
    }

    /// Runs a test in many worlds in which things go wrong at moments that follow from seeds, until one breaks it.
    ///
    /// Each seed is run without faults first, which also tells how long it takes and how many packets pass; then
    /// `attempts` times with one to three faults, each at a packet or a time of that run. When `body` throws, faults
    /// are left out one by one as long as it still throws, and moments are made earlier.
    ///
    /// `body` makes its own machines in the world that it is given, and says by throwing that something is wrong: a
    /// `#expect` in it does not count, a `try #require` does.
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

    /// Runs a test once more as ``Failure/repetition`` says.
    ///
    /// - Throws: ``Failure`` if it breaks again.
    public static func replay(
        seed: UInt64,
        faults: [String],
        _ body: (World) async throws -> Void
    ) async throws(Failure) {
        let faults = faults.map { text in
            guard let fault = Fault(text) else { preconditionFailure("“\(text)” is no fault in words") }
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

    /// A fault at a moment that there was in a run without any.
    private static func draw(_ hazards: [Hazard], _ calm: World, _ random: inout SeededGenerator) -> Fault {
        let hazard = hazards[Int.random(in: hazards.indices, using: &random)]
        let packets = calm.machine(hazard.machine).packetCount
        if packets > 0, Bool.random(using: &random) {
            return Fault(hazard.kind, at: .packet(Int.random(in: 1...packets, using: &random)), of: hazard.machine)
        }
        let milliseconds = Int64.random(in: 0...max(1, Int64(calm.now / .milliseconds(1))), using: &random)
        return Fault(hazard.kind, at: .time(.milliseconds(milliseconds)), of: hazard.machine)
    }

    /// Leaves out faults as long as the test still breaks, then makes their moments rounder and earlier.
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
    /// The same at half the time or half the packets; `nil` if there is no half.
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
