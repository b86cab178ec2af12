import BLESimulation
import CoreBluetooth
import Testing

@testable import ble

@Suite("Listening to values on the command line") @MainActor
struct ListeningTests {
    private static let clock = SimulatedPeripheral(
        name: "Clock",
        services: [
            .init(
                "FFA0",
                [
                    .init("FFA1", [.read, .notify], notifies: .init(every: .seconds(1), [[1], [2]])),
                    .init("FFA1", [.read, .notify], notifies: .init(every: .seconds(1), [[0x31], [0x32]])),
                ]
            ),
            .init("FFB0", [.init("FFA1", [.read, .notify], notifies: .init(every: .seconds(1), [[0x71]]))]),
        ]
    )

    /// What a listening to these characteristics printed, in a world with a device that has three of a type.
    private func listen(to texts: [String], count: Int, json: Bool = true) async throws -> [String] {
        let world = World(seed: 5)
        world.place(Self.clock)
        let central = world.inhabit { Central(clock: world.clock) }
        var lines: [String] = [], isOver = false
        let work = Task {
            defer { isOver = true }
            try await central.powerOn()
            let peripheral = try await central.find(PeerReference(text: "Clock"), within: .seconds(60))
            try await central.connect(peripheral, within: .seconds(60))
            let references = try texts.map { try #require(CharacteristicReference(argument: $0)) }
            let found = try await central.characteristics(references, of: peripheral)
            let listening = Listening(to: found, of: peripheral, count: count, Printer(json: json) { lines.append($0) })
            #expect(try await listening.run(through: central) == count)
            #expect(found.allSatisfy { !$0.isNotifying })
        }
        for _ in 0..<120 where !isOver { await world.advance(by: .seconds(1)) }
        try #require(isOver)
        try await work.value
        return lines
    }

    @Test("Values of several characteristics are printed with their names, and counted together")
    func several() async throws {
        let lines = try await listen(to: ["FFB0/FFA1", "FFA1#2", "FFA1#2"], count: 5, json: false)
        #expect(lines.filter { $0.hasPrefix("Subscribed") } == ["Subscribed to FFA1#3.", "Subscribed to FFA1#2."])
        let values = lines.filter { !$0.hasPrefix("Subscribed") }
        #expect(values.count == 5)
        #expect(values.contains { $0.hasPrefix("FFA1#3 71") } && values.contains { $0.hasPrefix("FFA1#2 3") })
    }

    @Test(
        "One of several characteristics with the same UUID can be selected",
        arguments: [("FFA1", "01"), ("FFA1#1", "01"), ("FFA1#2", "31"), ("FFB0/FFA1", "71"), ("FFA0/FFA1#2", "31")]
    )
    func one(text: String, first: String) async throws {
        let lines = try await listen(to: [text], count: 1)
        #expect(lines.count == 2)
        #expect(lines[1].contains(#""value":"\#(first)""#))
        #expect(lines.allSatisfy { $0.contains(#""instance":"#) })
    }

    @Test("A missing characteristic is reported as it was requested", arguments: ["FFA1#4", "FFA2", "FFC0/FFA1"])
    func none(text: String) async {
        await #expect {
            try await listen(to: [text], count: 1)
        } throws: {
            ($0 as? CommandError)?.description.contains("has no characteristic \(text).") == true
        }
    }

    @Test(
        "An invalid characteristic reference is refused",
        arguments: ["", "FFA1#0", "FFA1#", "#1", "/FFA1", "FFA0/", "FFA1#x"]
    )
    func refused(text: String) {
        #expect(CharacteristicReference(argument: text) == nil)
    }

    @Test("With timestamps enabled, each line has its time, in text and in JSON", arguments: [false, true])
    func timestamps(json: Bool) {
        var lines: [String] = []
        let printer = Printer(json: json, write: { lines.append($0) }, clock: { Timestamp(nanoseconds: 1_250_000_000) })
        printer.print(Fact("seen", ["name": "Lamp"], text: "Lamp"))
        let plain = Printer(json: json) { lines.append($0) }
        plain.print(Fact("seen", [:], text: "Lamp"))
        let time = "1970-01-01T00:00:01.250000Z"
        let objects = [#"{"event":"seen","name":"Lamp","time":"\#(time)"}"#, #"{"event":"seen"}"#]
        #expect(lines == (json ? objects : ["\(time)  Lamp", "Lamp"]))
    }

    @Test("The map returns recently received entries with their latest values, and drops the oldest")
    func roll() {
        var roll = LRUMap<Int>()
        let names = (0...LRUMap<Int>.limit).map { _ in UUID() }
        roll.update(1, of: names[0], at: .seconds(1))
        roll.update(2, of: names[1], at: .seconds(2))
        roll.update(3, of: names[0], at: .seconds(5))
        let heard = roll.recent(within: .seconds(4), at: .seconds(6))
        #expect(heard.map(\.entry) == [3, 2] && heard.map(\.age) == [.seconds(1), .seconds(4)])
        #expect(roll.recent(within: .seconds(3), at: .seconds(6)).map(\.entry) == [3])
        for (index, name) in names.enumerated().dropFirst(2) { roll.update(index, of: name, at: .seconds(7)) }
        #expect(roll.recent(within: .seconds(60), at: .seconds(7)).count == LRUMap<Int>.limit)
        #expect(!roll.recent(within: .seconds(60), at: .seconds(7)).contains { $0.entry == 2 && $0.age == .seconds(5) })
        roll.update(-1, of: names[1], at: .seconds(8))
        let all = roll.recent(within: .seconds(60), at: .seconds(8)).map(\.entry)
        #expect(all.contains(-1) && all.contains(names.count - 1) && all.filter { $0 == 3 }.count == 1)
    }
}
