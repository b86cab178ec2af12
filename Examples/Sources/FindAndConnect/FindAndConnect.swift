import CoreBluetooth

/// `FindAndConnect PREFIX` connects to the first peripheral whose name begins so.
@main
struct FindAndConnect {
    static func main() {
        let controller = ViewController(prefix: CommandLine.arguments.dropFirst().first ?? "") { print($0) }
        controller.viewDidLoad()
        withExtendedLifetime(controller) { RunLoop.main.run() }
    }
}
