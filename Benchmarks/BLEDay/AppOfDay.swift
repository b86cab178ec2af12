import ArgumentParser
import BLERuntime

/// The command that runs one app of a day in a process of its own, with the radio that BLUETOOTH_HOST names.
///
/// If several such processes run together, their apps learn about each other from a ``Bulletin``.
struct AppOfDay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract:
            "Run one app in real time on the radio that BLUETOOTH_HOST names, alongside apps in other processes.",
        discussion: """
            The processes share one file, the bulletin, in which each app records what it does. Prints one JSON object \
            for each violation, and a summary at the end. The app makes random requests until the line "stage calm" is \
            added to the bulletin, ends its connections at "stage parting", and exits at "stage over".

            Exit status: 0 no violation, 1 a violation, 66 the bulletin does not exist.

            Example:
              BLEDay app central phone phone bulletin
            """
    )

    enum Role: String, CaseIterable, ExpressibleByArgument { case central, server }

    @Argument(help: "The app's role.") var role: Role
    @Argument(help: "The app's name, unique in the run.") var name: String
    @Argument(help: "The name of the app's machine.") var machine: String
    @Argument(help: "The file that all apps of the run read and append to.") var bulletin: String
    @Option(help: "Random seed (default: 0).", transform: Bounds(0...UInt64.max).read)
    var seed: UInt64 = 0
    @Option(help: "The restore identifier of a central.") var restore: String?
    @Flag(help: "Give the central a delegate without the callbacks for automatic reconnection.") var legacy = false
    @Flag(help: "Call the central's delegate on the main queue.") var main = false

    /// The time that every request may take at the end of the run.
    private static let patience = Duration.seconds(10)

    func run() async throws {
        guard let board = Bulletin(path: bulletin) else {
            try StandardStream.error.write(line: "The bulletin \(bulletin) does not exist. Create an empty file.")
            throw ExitCode(66)
        }
        let chronicle = Chronicle(board)
        let isGood =
            switch role {
            case .central: try await live(await central(chronicle), chronicle)
            case .server: try await live(DayServer(name, on: machine, seed: seed, chronicle), chronicle)
            }
        if !isGood { throw ExitCode(1) }
    }

    @MainActor private func central(_ chronicle: Chronicle) -> DayCentral {
        DayCentral(
            name,
            on: machine,
            main ? .main : .serial,
            isModern: !legacy,
            restoring: restore,
            seed: seed,
            chronicle
        )
    }

    /// Lets the app act, respond and check itself until the run is over; returns true if there were no violations.
    private func live(_ app: some LivingApp, _ chronicle: Chronicle) async throws -> Bool {
        var dice = Dice(seed: seed, "rhythm of \(name)"), told = 0, stage = Bulletin.Stage.busy
        while stage != .over {
            try await Task.sleep(for: .milliseconds(dice.within(20...400)))
            let next = chronicle.stage ?? .over
            let isNew = next != stage
            stage = next
            await app.perform { [stage] in
                switch stage {
                case .busy: app.actInPlace()
                case .calm: app.keepCalm()
                case .parting: if isNew { app.part(patience: Self.patience) }
                case .over: app.audit(since: chronicle.now - .seconds(2), isLast: true)
                }
                app.tend()
            }
            let violations = chronicle.violations
            for violation in violations[told...] {
                try StandardStream.output.write(line: "{\"violation\": \(violation.jsonString)}")
            }
            told = violations.count
        }
        let counts = (chronicle.operations.values.reduce(0, +), chronicle.callbacks.values.reduce(0, +))
        try StandardStream.output.write(line: "{\"operations\": \(counts.0), \"callbacks\": \(counts.1)}")
        return told == 0
    }
}

/// An app that has a process of its own.
protocol LivingApp: DayApp {
    /// Performs a random action.
    func actInPlace()
    /// Starts nothing new: a central stops scanning, and a server only makes sure that it advertises.
    func keepCalm()
    /// Reports requests that have waited for longer than `patience`; a central also ends its connections.
    func part(patience: Duration)
    func tend()
    func audit(since instant: Duration, isLast: Bool)
}

extension DayCentral: LivingApp {
    /// PSMs that servers may have published, and one that no server publishes.
    private static let channels: [UInt16] = [0x80, 0x81, 0x82, 0xF0]

    func actInPlace() {
        if isOn, subjects.isEmpty, scan == nil { return startScan(nil) }
        act(channels: Self.channels)
    }

    func keepCalm() {
        if scan != nil, isOn { stopScan() }
    }

    func part(patience: Duration) {
        audit(since: chronicle.now - patience, isLast: true)
        calmDown()
    }
}

extension DayServer: LivingApp {
    func actInPlace() { if dice.chance(40) { act() } }

    func keepCalm() { beHeard() }

    func part(patience: Duration) { audit(since: chronicle.now - patience, isLast: true) }
}
