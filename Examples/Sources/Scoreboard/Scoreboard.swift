import CoreBluetooth

/// Shows the score that the nearest game says, for as long as the program runs.
@main
@MainActor
struct Scoreboard {
    static func main() {
        let reader = ScoreReader { print("The score is \($0)") }
        withExtendedLifetime(reader) { RunLoop.main.run() }
    }
}
