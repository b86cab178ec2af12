import BLESimulation
import Foundation
import Testing

@testable import ble

@Suite("Demo") @MainActor
struct ChatDemoTests {
    /// What the demo prints in a world of this seed, and whether every step happened.
    private func play(seed: UInt64, loss: Double, packets: Bool = false) async -> (lines: [String], succeeded: Bool) {
        var lines: [String] = []
        let printer = Printer(json: true) { lines.append($0) }
        let world = World(seed: seed, conditions: .init(loss: loss))
        let succeeded = await ChatDemo(in: world, printer: printer, showsPackets: packets).run()
        return (lines, succeeded)
    }

    private func events(in lines: [String]) throws -> [String] {
        try lines.map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(object?["event"] as? String)
        }
    }

    @Test("Every step of the demo succeeds, however lossy the radio", arguments: UInt64(0)..<16)
    func everyStep(seed: UInt64) async throws {
        let (lines, succeeded) = await play(seed: seed, loss: 0.4)
        #expect(succeeded)
        let counts = Dictionary(grouping: try events(in: lines)) { $0 }.mapValues(\.count)
        let expected = ["discovered": 2, "connected": 2, "subscribed": 2, "wrote": 2, "received": 8, "left": 2]
        #expect(counts == expected)
    }

    @Test("The same seed prints the same output, including packets")
    func deterministic() async throws {
        let first = await play(seed: 5, loss: 0.3, packets: true), again = await play(seed: 5, loss: 0.3, packets: true)
        let other = await play(seed: 6, loss: 0.3, packets: true)
        #expect(first.lines == again.lines)
        #expect(first.lines != other.lines)
        #expect(try events(in: first.lines).contains("packet"))
    }

    @Test("With a radio that carries nothing the demo fails, and names the step that did not happen")
    func silence() async throws {
        let (lines, succeeded) = await play(seed: 1, loss: 1)
        #expect(!succeeded)
        #expect(try events(in: lines) == ["failed"])
        #expect(lines[0].contains("Alice discovers the room"))
    }
}
