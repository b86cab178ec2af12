import ArgumentParser
import BLERuntime
import Foundation

/// A program that runs apps through simulated days, and reports everything that contradicts Apple's documentation.
@main
struct BLEDay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "BLEDay",
        abstract: "Run apps that check every callback against Apple's documentation.",
        subcommands: [Days.self, AppOfDay.self],
        defaultSubcommand: Days.self
    )
}

/// The command that runs days with three apps on one phone.
struct Days: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run two centrals and a peripheral manager in one process, for a simulated day.",
        discussion: """
            Prints one JSON object for each violation, and one for each seed. Exit status: 0 no violation, 1 a \
            violation.
            """
    )

    @Option(help: "The first seed (default: 0).", transform: Bounds(0...UInt64.max).read)
    var seed: UInt64 = 0
    @Option(help: "The number of seeds (default: 1).", transform: Bounds(0...1_000_000).read)
    var seeds = 1
    @Option(help: "The length of a day in hours (default: 24).", transform: Bounds(0...8_760, of: "hours").read)
    var hours = 24
    @Flag(help: "Run the apps at the same time; runs are then not repeatable.") var concurrent = false

    func run() async throws {
        var isGood = true
        for number in 0..<UInt64(seeds) {
            let clock = ContinuousClock(), start = clock.now
            let task = Task.detached { [seed, hours, concurrent] in
                await Day.run(seed: seed &+ number, hours: hours, isConcurrent: concurrent)
            }
            let outcome = await task.value
            for violation in outcome.violations {
                let line = "{\"seed\": \(outcome.seed), \"violation\": \(violation.jsonString)}"
                try StandardStream.output.write(line: line)
            }
            try StandardStream.output.write(line: outcome.json(wall: clock.now - start))
            isGood = isGood && outcome.violations.isEmpty
        }
        if !isGood { throw ExitCode(1) }
    }
}

extension String {
    /// The text as a string in JSON.
    var jsonString: String {
        let octets = try? JSONEncoder().encode(self)
        return octets.map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}

extension Day.Outcome {
    /// Returns the outcome as a JSON object; `wall` is the real time that the day took.
    func json(wall: Duration) -> String {
        let seconds = Double(wall.components.seconds) + Double(wall.components.attoseconds) / 1e18
        let fields = [
            "\"workload\": \"day\"", "\"seed\": \(seed)", "\"hours\": \(hours)",
            "\"operations\": \(operations.values.reduce(0, +))", "\"callbacks\": \(callbacks.values.reduce(0, +))",
            "\"violations\": \(violations.count)", "\"wall_seconds\": \((seconds * 1_000).rounded() / 1_000)",
            "\"hash\": \"\(String(hash, radix: 16))\"", "\"by_operation\": \(Self.json(operations))",
            "\"by_callback\": \(Self.json(callbacks))",
        ]
        return "{\(fields.joined(separator: ", "))}"
    }

    private static func json(_ counts: [String: Int]) -> String {
        "{" + counts.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ") + "}"
    }
}
