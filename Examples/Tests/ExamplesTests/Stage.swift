import BLESimulation
import CoreBluetooth
import Testing

/// A world with a place for a peripheral and one for each central, where time passes until something has happened.
@MainActor
struct Stage {
    let world: World

    init(seed: UInt64 = 1, loss: Double = 0) { world = World(seed: seed, conditions: .init(loss: loss)) }

    /// Starts a program on a machine of its own.
    func start<Program>(on machine: String, _ make: @MainActor () -> Program) -> Program {
        var program: Program?
        world.machine(machine).inhabit { program = make() }
        return program!
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
                Issue.record("this did not happen: \(what)", sourceLocation: sourceLocation)
                return
            }
            await world.advance(by: .milliseconds(20))
        }
    }
}

/// The seeds that every example is played with.
let seeds = UInt64(0)..<16
