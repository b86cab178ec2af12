import BLESimulation
import CoreBluetooth
import Testing

/// A world with a place for a peripheral and one for each central, where time passes until something has happened.
@MainActor
struct Stage {
    let world: World

    init(seed: UInt64 = 1, loss: Double = 0) { world = World(seed: seed, conditions: .init(loss: loss)) }

    /// Starts a program on a machine of its own, `distance` metres from the middle of the world.
    func start<Program>(
        on machine: String,
        distance: Double = 0,
        _ make: @MainActor () -> Program
    ) -> Program {
        world.machine(machine, at: World.Position(x: distance)).inhabit { make() }
    }

    /// Lets time pass until `happened` holds, no longer than a minute of it.
    func wait(
        until what: Comment,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ happened: @MainActor () -> Bool
    ) async {
        let end = world.now + .seconds(60)
        while !happened() {
            guard world.now < end else {
                Attachment.record(world.story, named: "story.txt", sourceLocation: sourceLocation)
                Issue.record("this did not happen: \(what)", sourceLocation: sourceLocation)
                return
            }
            await world.advance(by: .milliseconds(20))
        }
    }
}

/// The seeds that every example is played with.
let seeds = UInt64(0)..<16
