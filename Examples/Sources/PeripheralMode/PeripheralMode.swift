import CoreBluetooth

/// A timer on the main run loop.
final class RunLoopTicker: Ticker {
    private var timer: Timer?

    func start(every seconds: TimeInterval, _ tick: @escaping () -> Void) {
        nonisolated(unsafe) let tick = tick
        timer = Timer.scheduledTimer(withTimeInterval: seconds, repeats: true) { _ in tick() }
    }

    func stop() {
        timer?.invalidate()
        timer = nil
    }
}

/// Advertises two services, and tells the time every two seconds to whoever subscribes.
@main
struct PeripheralMode {
    static func main() {
        let controller = PeripheralViewController(ticker: RunLoopTicker())
        controller.viewDidLoad()
        withExtendedLifetime(controller) { RunLoop.main.run() }
    }
}
