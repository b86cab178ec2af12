import CoreBluetooth

/// `FirstSteps central` explores the first peripheral that it finds; `FirstSteps peripheral` is one.
@main
struct FirstSteps {
    static func main() {
        let role = CommandLine.arguments.dropFirst().first
        let program: NSObject =
            role == "peripheral" ? Publisher { print($0) } : Explorer(services: nil) { print($0) }
        withExtendedLifetime(program) { RunLoop.main.run() }
    }
}
