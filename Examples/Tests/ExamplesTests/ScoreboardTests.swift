import BLESimulation
import CoreBluetooth
import Foundation
import Testing

@testable import Scoreboard

@Suite("Scoreboard") @MainActor
struct ScoreboardTests {
    private struct LostUpdate: Error {}

    /// What may go wrong: the game is out of range for six seconds.
    private static let hazards = [World.Hazard(.linkLoss(.seconds(6)), of: "Game")]

    /// A game of a minute, of which the reader has to know the last score.
    private static func play(in world: World, _ reconnection: ScoreReader.Reconnection) async throws {
        let score = SimulatedPeripheral.Characteristic(ScoreReader.scoreUUID.uuidString, [.read, .notify], value: [0])
        let service = SimulatedPeripheral.Service(ScoreReader.serviceUUID.uuidString, [score])
        let game = world.place(SimulatedPeripheral(name: "Game", services: [service]))
        let reader = world.inhabit { ScoreReader(reconnection) }
        await world.advance(by: .seconds(10))
        for goals in UInt8(1)...5 {
            game.notify([goals], of: ScoreReader.scoreUUID.uuidString)
            await world.advance(by: .seconds(10))
        }
        guard reader.score == 5 else { throw LostUpdate() }
    }

    /// The seed and the faults in the line that repeats a run.
    private static func arguments(of line: String) throws -> (seed: UInt64, faults: [String]) {
        let parts = line.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
        let seed = try #require(parts[0].firstMatch(of: /seed: (\d+)/).flatMap { UInt64($0.1) })
        return (seed, parts.enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
    }

    @Test("A scoreboard that does not resubscribe fails with at most two faults, and the printed line reproduces it")
    func forgetful() async throws {
        let failure = await #expect(throws: World.Failure.self) {
            try await World.explore(seeds: 0..<8, faults: Self.hazards) { try await Self.play(in: $0, .forgetful) }
        }
        let found = try #require(failure)
        #expect((1...2).contains(found.faults.count))
        let line = try #require("\(found)".split(separator: "\n").first { $0.contains("World.replay(") })
        let (seed, faults) = try Self.arguments(of: String(line))
        #expect(faults.count == found.faults.count)
        let again = await #expect(throws: World.Failure.self) {
            try await World.replay(seed: seed, faults: faults) { try await Self.play(in: $0, .forgetful) }
        }
        #expect(again?.story == found.story)
        try await World.replay(seed: seed, faults: faults) { try await Self.play(in: $0, .careful) }
    }

    @Test("A scoreboard that resubscribes survives all faults")
    func careful() async throws {
        try await World.explore(seeds: 0..<8, faults: Self.hazards) { try await Self.play(in: $0, .careful) }
    }
}
