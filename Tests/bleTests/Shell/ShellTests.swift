import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("The shell", .timeLimit(.minutes(30))) @MainActor
struct ShellTests {
    /// The lines that a shell has printed.
    private final class Output {
        var lines: [String] = []
    }

    /// Performs lines one after the other, and returns the shell and what it printed.
    private static func run(_ lines: [String], seed: UInt64 = 1, then seconds: Int = 0) async throws -> (Shell, Output)
    {
        let world = World(seed: seed, conditions: .init(loss: 0.1))
        var lamp = SimulatedPeripheral(
            name: "Lamp",
            services: [
                .init(
                    "FFA0",
                    [
                        .init("FFA1", [.read, .write, .writeWithoutResponse], value: Array("on".utf8)),
                        .init(
                            "2A19",
                            [.read, .notify],
                            value: [81],
                            notifies: .init(every: .seconds(1), [[80], [79]])
                        ),
                    ]
                )
            ]
        )
        lamp.position = .init(x: 1)
        world.place(lamp)
        let output = Output()
        let phone = world.machine("phone")
        let shell = phone.inhabit {
            Shell(clock: world.clock, usesColor: false) { output.lines.append($0) }
        }
        var isDone = false
        let work = phone.inhabit {
            Task {
                try await shell.start()
                for line in lines {
                    guard await shell.take(line) else { break }
                    await shell.finish()
                }
                isDone = true
            }
        }
        #expect(await world.advance(atMost: .seconds(300)) { isDone })
        try await work.value
        await world.advance(by: .seconds(seconds))
        var isClosed = false
        let end = Task {
            await shell.close()
            isClosed = true
        }
        #expect(await world.advance(atMost: .seconds(60)) { isClosed })
        await end.value
        return (shell, output)
    }

    @Test("A user connects, explores, reads, writes and subscribes", arguments: 0..<16 as Range<UInt64>)
    func everything(seed: UInt64) async throws {
        let lines = [
            "connect lamp", "discover", "read FFA1", "write FFA1 off now", "read ffa1", "send FFA1 0x0102", "read FFA1",
            "read \"Battery Level\"", "subscribe 2A19",
        ]
        let (shell, output) = try await Self.run(lines, seed: seed, then: 5)
        let expected = [
            "Connected to Lamp.", "service FFA0", "  characteristic FFA1  [read writeWithoutResponse write]",
            "  characteristic 2A19 Battery Level  [read notify]",
            "    descriptor 2902 Client Characteristic Configuration", "FFA1: “on”  (0x6f6e)",
            "FFA1: “off now”  (0x6f6666206e6f77)", "FFA1: 0x0102",
        ]
        #expect(Array(output.lines.prefix(expected.count)) == expected, "\(output.lines)")
        let values = output.lines.dropFirst(expected.count)
        #expect(values.first?.hasPrefix("2A19 Battery Level: ") == true, "\(output.lines)")
        #expect(
            values.contains("2A19 Battery Level: 80 %  (0x50)") && values.contains("2A19 Battery Level: 79 %  (0x4f)")
        )
        #expect(!shell.hasFailed)
        #expect(output.lines.last?.hasPrefix("Disconnected from Lamp") == true)
        #expect(shell.completion.complete("con").candidates == ["connect"])
        #expect(shell.completion.complete("connect l").candidates == ["Lamp"])
        #expect(shell.completion.complete("read f").candidates == ["FFA1"])
        #expect(shell.completion.complete("read bat").candidates == ["\"Battery Level\""])
        #expect(shell.completion.complete("read \"Heart Rate M").candidates.contains("\"Heart Rate Measurement\""))
        #expect(shell.completion.complete("rssi ").candidates.isEmpty)
    }

    @Test("A name that is unsafe on a terminal is not offered as a completion")
    func unsafeNames() {
        var completion = ShellCompletion()
        for name in ["La\u{1B}[2J", "Lamp\nread", "Lamp"] { completion.add(device: name) }
        #expect(completion.complete("connect l").candidates == ["Lamp"])
    }

    @Test("A watched value is shown when it changes")
    func watches() async throws {
        let (_, output) = try await Self.run(["connect Lamp", "write FFA1 a", "watch FFA1 0.5"], then: 10)
        #expect(output.lines.filter { $0.hasPrefix("FFA1") } == ["FFA1: “a”  (0x61)"])
    }

    /// Lines that fail, and a part of what the user sees.
    nonisolated static let failing = [
        ("fly", "“fly” is not a command"), ("read 2A19", "Use “connect DEVICE” first"),
        ("connect", "Usage: connect DEVICE"),
        ("read", "Usage: read CHARACTERISTIC"), ("write FFA1", "Usage: write"), ("rssi now", "Usage: rssi"),
        ("watch 2A19 0", "seconds from 0.1"), ("watch 2A19 x", "seconds from 0.1"),
    ]

    @Test("An error is shown in place", arguments: failing)
    func failures(line: String, text: String) async throws {
        let (shell, output) = try await Self.run([line])
        #expect(output.lines.count == 1 && output.lines.first?.contains(text) == true, "\(output.lines)")
        #expect(shell.hasFailed)
    }

    @Test("A failed command is shown, and the shell goes on")
    func goesOn() async throws {
        let (shell, output) = try await Self.run(["connect Lamp", "read FFA9", "read FFA1", "quit", "rssi"])
        #expect(output.lines.contains { $0.contains("has no characteristic FFA9, only “FFA1”") })
        #expect(output.lines.contains("FFA1: “on”  (0x6f6e)") && shell.hasFailed)
        #expect(!output.lines.contains { $0.contains("dBm") })
    }

    @Test("Help lists every command")
    func help() async throws {
        let (_, output) = try await Self.run(["help"])
        #expect(output.lines.count == ShellLine.commands.count)
    }
}
