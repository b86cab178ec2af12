import CoreFoundation
import Foundation
import Glibc

/// A benchmark of the start of `ble scan`: the time until its first line, compared with a program that only prints.
///
/// The program `ble` must be in the folder of this one. The other program is this one with `--help`, which uses
/// Foundation and prints before it does anything else.
enum Start {
    private static let rounds = 21
    private static let goal = 2.5

    /// The times until a program printed its first line, in milliseconds.
    private struct Times {
        var wall: [Double] = []
        var processor: [Double] = []
    }

    static func measure() -> Result {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let ble = own.deletingLastPathComponent().appending(path: "ble")
        var scan = Times(), empty = Times()
        // In turn, so that both have the same part of the machine's other load.
        for _ in 0..<rounds {
            run(ble, ["scan"], &scan)
            run(own, ["--help"], &empty)
        }
        let ratio = median(scan.processor) / median(empty.processor)
        return Result(
            workload: "start",
            explanation: "time to the first line of ble scan",
            figures: [
                .init("rounds", .count(scan.wall.count)),
                .init("wall_ms", .number(median(scan.wall))),
                .init("cpu_ms", .number(median(scan.processor))),
                .init("empty_wall_ms", .number(median(empty.wall))),
                .init("empty_cpu_ms", .number(median(empty.processor))),
                .init("cpu_ratio", .number(ratio)),
                .init("goal_ratio", .number(goal)),
            ],
            isGood: scan.wall.count == rounds && empty.wall.count == rounds
        )
    }

    /// Runs a program until it has printed a line; adds nothing to `times` if it prints none.
    private static func run(_ program: URL, _ arguments: [String], _ times: inout Times) {
        let process = Process(), output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["BLUETOOTH_HOST": "demo"]) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let before = processorTime, stopwatch = Stopwatch(.wall)
        guard (try? process.run()) != nil else { return }
        let isPrinted = !output.fileHandleForReading.availableData.isEmpty, wall = stopwatch.seconds
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        guard isPrinted else { return }
        times.wall.append(wall * 1_000)
        times.processor.append((processorTime - before) * 1_000)
    }

    /// The processor time of all programs that this one has run, in seconds.
    private static var processorTime: Double {
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? .nan : values.sorted()[values.count / 2]
    }
}
