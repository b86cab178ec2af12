import BLEHost
import BLESimulation
import Testing

@Suite("Text of a fault, and the line that repeats a run")
struct RepetitionTests {
    private static let durations: [Duration] = [
        .zero, .nanoseconds(1), .microseconds(500), .milliseconds(1), .microseconds(-1_500), .seconds(86_401),
        .seconds(400 * 86_400) + .nanoseconds(7), Duration(attoseconds: 1), Duration(attoseconds: .max),
        Duration(attoseconds: .min),
    ]

    private static let names = [
        "phone", #"the "blue" lamp"#, #""quoted""#, #"""#, #"back\slash"#, #"ends with \"#, "", " ", "of old", "a of b",
        "x at time 5 ms of y", "line\nfeed", "\u{301}combining", "Küche 💡", "1", "\0", #"a\(b)"#, "x 1 of \"y\"",
    ]

    @Test("A fault is read back from its text, whatever its duration", arguments: durations)
    func anyDuration(duration: Duration) {
        let faults = [
            World.Fault(.linkLoss(duration), at: .time(duration), of: "x"),
            World.Fault(.bluetoothOff(duration), at: .packet(1), of: "x"),
            World.Fault(.unplugged(duration), at: .step("didConnect", 1), of: "x"),
        ]
        for fault in faults { #expect(World.Fault("\(fault)") == fault, "\(fault)") }
    }

    @Test("A fault is read back from its text, whatever its machine and step are called", arguments: names, names)
    func anyName(machine: String, step: String) {
        let faults = [
            World.Fault(.controllerReset, at: .step(step, 2), of: machine),
            World.Fault(.linkLoss(.seconds(6)), at: .packet(40), of: machine),
        ]
        for fault in faults { #expect(World.Fault("\(fault)") == fault, "\(fault)") }
    }

    @Test(
        "Text that is almost a fault is refused",
        arguments: [
            "linkLoss . ms at packet 1 of x", "linkLoss 1. ms at packet 1 of x", "linkLoss .5 ms at packet 1 of x",
            "linkLoss 1.0000000000000001 ms at packet 1 of x", "linkLoss 1e3 ms at packet 1 of x",
            "linkLoss 99999999999999999999999999 ms at packet 1 of x", "linkLoss - ms at packet 1 of x",
            "linkLoss 170141183460469231731688.303715884105728 ms at packet 1 of x",
            #"controllerReset at step "a 1 of x"#, #"controllerReset at step "a"1 of x"#, "controllerReset at step a",
            #"controllerReset at step "\n" 1 of x"#, #"controllerReset at packet 1 of "x"#,
            #"controllerReset at packet 1 of "x" "#, "controllerReset at packet 1", " at  of ",
        ]
    )
    func noWords(text: String) {
        #expect(World.Fault(text) == nil)
    }

    private struct Broken: Error {}

    @Test("The line is valid Swift, whatever the machines are called")
    func line() async throws {
        let fault = World.Fault(.linkLoss(.microseconds(500)), at: .time(.seconds(90_000)), of: "a \"b\" \\(c)\n\u{7}")
        let failure = await #expect(throws: World.Failure.self) {
            try await World.replay(seed: .max, faults: [fault].map { "\($0)" }) { _ in throw Broken() }
        }
        let words = #"linkLoss 0.5 ms at time 90000000 ms of a \"b\" \\(c)\n\u{07}"#
        let line = #"try await World.replay(seed: 18446744073709551615, faults: ["\#(words)"]) { world in … }"#
        #expect(failure?.repetition == line)
        let end = "\n1 fault is enough to break the test. Repeat with:\n\n    \(line)"
        #expect(failure?.description.contains(end) == true)
    }

    @Test("The text states how many faults are needed, with correct grammar", arguments: 0...2)
    func count(of faults: Int) async throws {
        let fault = World.Fault(.controllerReset, at: .time(.seconds(1)), of: "phone")
        let failure = await #expect(throws: World.Failure.self) {
            try await World.replay(seed: 1, faults: (0..<faults).map { _ in "\(fault)" }) { _ in throw Broken() }
        }
        let sentences = [
            "The test fails without any fault.", "1 fault is enough to break the test.",
            "2 faults together break the test.",
        ]
        #expect(failure?.description.contains("\n\(sentences[faults]) Repeat with:\n") == true)
    }

    /// An app that is not to hear of anything after the first day.
    private func lateChange(in world: World) async throws {
        let app = SeamApp()
        app.start(.central, on: world.machine("a \"phone\" of old"))
        await world.advance(by: .seconds(86_401))
        let count = app.states.count
        await world.advance(by: .seconds(200_000))
        guard app.states.count == count else { throw Broken() }
    }

    @Test("A half-millisecond fault after a day is reproduced")
    func again() async throws {
        let hazards = [World.Hazard(.bluetoothOff(.microseconds(500)), of: "a \"phone\" of old")]
        let failure = await #expect(throws: World.Failure.self) {
            try await World.explore(seeds: 0..<8, faults: hazards) { try await lateChange(in: $0) }
        }
        let found = try #require(failure)
        try #require(!found.faults.isEmpty && found.faults.map { World.Fault("\($0)") } == found.faults)
        let again = await #expect(throws: World.Failure.self) {
            try await World.replay(seed: found.seed, faults: found.faults.map { "\($0)" }) {
                try await lateChange(in: $0)
            }
        }
        #expect(again?.story == found.story)
    }
}
