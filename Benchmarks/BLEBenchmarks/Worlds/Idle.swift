import BLEDaemon
import BLEHost
import BLERuntime
import BLESimulation
import Foundation
import Glibc

/// Benchmarks of programs with nothing to do: the number of times that their loops wake up.
///
/// They take real time, because virtual time does not wake up anything.
enum Idle {
    private static let devices = 1_000
    private static let apps = 200
    private static let seconds = 5
    /// The greatest time in which a program may become idle.
    private static let settling = 30

    /// Measures a world in real time with devices that advertise, which no app listens to.
    static func measureWorld() -> Result {
        MainLoop.wait {
            let world = await world()
            let figure = await wakeUps()
            withExtendedLifetime(world) {}
            return result("idle-world", "a world in real time with devices that no app listens to", figure)
        }
    }

    /// Measures a daemon of such a world, with connected apps that make no requests.
    static func measureDaemon() -> Result {
        MainLoop.wait {
            let world = await world(), name = "idle-daemon"
            let folder = FileManager.default.temporaryDirectory.appending(path: "idle-\(getpid())").path
            let limits = Daemon.Limits(
                connections: 2 * apps,
                connectionsOfUser: 2 * apps,
                connectionsOfProcess: 2 * apps,
                acceptRate: 2 * apps
            )
            let daemon = Daemon(Radios([("world", world.machine("phone"))]), limits: limits)
            mkdir(folder, 0o700)
            defer { rmdir(folder) }
            guard (try? daemon.listen(at: folder + "/socket")) != nil else {
                return result(name, "no daemon, because its socket could not be created", nil)
            }
            defer { daemon.stop() }
            let ready = Locked(0)
            var sessions: [any HostSession] = []
            for number in 0..<apps {
                let session = DaemonLink(to: folder + "/socket").open(
                    .central,
                    restoring: nil,
                    .inTurn { events in
                        for event in events where event == .stateChanged(.poweredOn) { ready.withLock { $0 += 1 } }
                        events.removeAll()
                    }
                )
                sessions.append(session)
                // One after the other, because a process may have few sessions without a greeting.
                for _ in 0..<(settling * 100) where ready.withLock({ $0 }) <= number {
                    try? await Task.sleep(for: .milliseconds(10))
                }
            }
            let figure = ready.withLock { $0 } == apps ? await wakeUps() : nil
            for session in sessions { session.close() }
            return result(name, "a daemon with an idle world, and apps that make no requests", figure, apps: apps)
        }
    }

    private static func world() async -> World {
        let world = World(seed: 1)
        for number in 0..<devices { world.place(SimulatedPeripheral(name: "Sensor \(number)", services: [])) }
        // Devices advertise fast at first.
        await world.advance(by: .seconds(60))
        world.runInRealTime()
        return world
    }

    /// Returns the number of wake-ups within ``seconds``, once there is a second without any; `nil` if there is none.
    private static func wakeUps() async -> Int? {
        for _ in 0..<settling {
            let before = waits
            try? await Task.sleep(for: .seconds(1))
            guard waits == before else { continue }
            try? await Task.sleep(for: .seconds(seconds))
            return waits - before
        }
        return nil
    }

    private static func result(_ name: String, _ explanation: String, _ wakeUps: Int?, apps: Int = 0) -> Result {
        Result(
            workload: name,
            explanation: explanation,
            figures: [
                .init("devices", .count(devices)),
                .init("apps", .count(apps)),
                .init("seconds", .count(seconds)),
                .init("wakeups", .count(wakeUps ?? -1)),
                .init("goal_wakeups", .count(0)),
            ],
            isGood: wakeUps == 0
        )
    }

    /// The number of times that the threads of loops have waited; those of the benchmark and of Dispatch do not count.
    private static var waits: Int {
        let folder = "/proc/self/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.reduce(0) { sum, thread in
            guard let text = try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8) else {
                return sum
            }
            let fields = text.split(separator: "\n").map { $0.split(separator: "\t") }
            let name = fields.first { $0.first == "Name:" }?.last ?? ""
            let count = fields.first { $0.first == "voluntary_ctxt_switches:" }?.last.flatMap { Int($0) } ?? 0
            return name.hasPrefix("bluetooth-") || name == "bled" ? sum + count : sum
        }
    }
}
