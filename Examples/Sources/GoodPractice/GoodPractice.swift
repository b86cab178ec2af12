import CoreBluetooth

/// `GoodPractice NAME` is seen once its user presses return, and hidden with the next return.
@main
@MainActor
struct GoodPractice {
    static func main() {
        let peripheral = CarefulPeripheral(localName: CommandLine.arguments.dropFirst().first ?? "Careful")
        Thread.detachNewThread {
            while readLine() != nil {
                DispatchQueue.main.async {
                    peripheral.userWantsToBeSeen(!peripheral.isAdvertising)
                }
            }
        }
        withExtendedLifetime(peripheral) { RunLoop.main.run() }
    }
}
