import BLESimulation

/// A simulated day with the apps of one phone: a few minutes of activity at a time, and quiet periods in between.
///
/// The time of every call follows from the seed, and every delegate call is checked against Apple's documentation. At
/// the end, all requests get the time and conditions that they need, and each must have been answered.
struct Day {
    /// The result of a day.
    struct Outcome: Sendable {
        let seed: UInt64
        let hours: Int
        let operations: [String: Int]
        let callbacks: [String: Int]
        let violations: [String]
        let hash: UInt64
    }

    /// The time that a request may take.
    ///
    /// It is longer than an ATT transaction (30 s) plus a supervision timeout.
    private static let patience = Duration.seconds(45)
    /// The average length of a quiet period in seconds.
    private static let quiet = 2_900

    private let seed: UInt64
    private let hours: Int
    private let isConcurrent: Bool
    private let cast: Cast
    private var dice: Dice
    private var weather: Weather

    /// Prepares a day.
    ///
    /// If it is concurrent, the apps work at the same time as each other and as the world, so no two runs are the same.
    /// Otherwise, they work one after the other.
    init(seed: UInt64, hours: Int, isConcurrent: Bool = false) {
        self.seed = seed
        self.hours = hours
        self.isConcurrent = isConcurrent
        cast = Cast(seed: seed)
        dice = Dice(seed: seed, "day")
        weather = Weather(cast, Dice(seed: seed, "weather"))
    }

    /// Runs a day; returns its outcome.
    static func run(seed: UInt64, hours: Int, isConcurrent: Bool = false) async -> Outcome {
        var day = Day(seed: seed, hours: hours, isConcurrent: isConcurrent)
        return await day.run()
    }

    private mutating func run() async -> Outcome {
        await cast.pass(.seconds(5))
        let end = Duration.seconds(hours * 3_600)
        while cast.world.now < end {
            await spell()
            await rest()
        }
        await finish()
        let chronicle = cast.chronicle
        return Outcome(
            seed: seed,
            hours: hours,
            operations: chronicle.operations,
            callbacks: chronicle.callbacks,
            violations: chronicle.violations,
            hash: cast.world.traceHash
        )
    }

    /// Runs a period of activity, which takes 40 to 140 seconds of virtual time.
    private mutating func spell() async {
        let end = cast.world.now + .seconds(dice.within(40...140))
        while cast.world.now < end {
            await step()
            await cast.pass(.milliseconds(dice.chance(30) ? dice.within(0...50) : dice.within(50...1_800)))
            weather.settle()
        }
    }

    /// Lets some apps act, perhaps with a fault at the same time.
    private mutating func step() async {
        let first = dice.chance(2)
        if first { weather.change() }
        for _ in 0..<dice.within(1...3) {
            if dice.chance(70), let app = dice.pick(cast.centrals) {
                await perform(app) { [channels = cast.channels] in app.act(channels: channels) }
            } else if let app = dice.pick(cast.servers) {
                await perform(app) { app.act() }
            }
        }
        if !first, dice.chance(1) { weather.change() }
    }

    private func perform(_ app: DayApp, _ body: @escaping @Sendable () -> Void) async {
        if isConcurrent { app.post(body) } else { await app.perform(body) }
    }

    /// Runs a quiet period, in which pending requests complete.
    private mutating func rest() async {
        weather.settle(all: true)
        await cast.pass(.seconds(80))
        await cast.audit(patience: Self.patience)
        let keepsLinks = dice.chance(10)
        if !keepsLinks {
            for app in cast.centrals { await app.perform { app.calmDown() } }
            for app in cast.servers { await app.perform { app.stopAdvertising() } }
        }
        if keepsLinks {
            await cast.pass(.seconds(dice.within(30...300)))
        } else {
            await cast.pass(.seconds(5))
            await cast.world.advance(by: .seconds(dice.within(1...(2 * Self.quiet))))
        }
        for app in cast.servers { await app.perform { app.beHeard() } }
        for app in cast.centrals {
            await app.perform { if app.isOn, app.subjects.isEmpty { app.startScan(nil) } }
        }
        await cast.pass(.seconds(3))
    }

    /// Ends the day: lets all pending requests complete.
    private mutating func finish() async {
        weather.settle(all: true)
        await cast.pass(.seconds(20))
        for app in cast.servers { await app.perform { app.beHeard() } }
        for app in cast.centrals { await app.perform { app.stopScan() } }
        await cast.pass(.seconds(120))
        await cast.audit(patience: Self.patience, isLast: true)
        for app in cast.centrals { await app.perform { app.calmDown() } }
        await cast.pass(.seconds(20))
        await cast.audit(patience: .seconds(10), isLast: true)
    }
}
