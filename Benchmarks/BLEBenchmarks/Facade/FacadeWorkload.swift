import BLEHost
import BLERuntime
import CoreBluetooth
import Dispatch

/// A workload for the host, its loop and the classes of Core Bluetooth.
///
/// Each operation goes from HCI octets to the delegate on its queue, or from the app's method call to HCI octets.
///
/// The controller is in the same process, and repeats packets that a virtual controller has sent before.
enum FacadeWorkload: String, CaseIterable {
    case advertisement = "HF1"
    case advertisementSeen = "HF1-seen"
    case readServed = "HF2"
    case writeServed = "HF3"
    case writeCommandServed = "HF4"
    case notificationSent = "HF5"
    case notificationReceived = "HF6"
    case notificationAlone = "HF6-alone"
    case read = "HF7"
    case write = "HF8"
    case writeCommand = "HF9"

    private var explanation: String {
        switch self {
        case .advertisement: "advertising report with new data to didDiscover, 16 per turn"
        case .advertisementSeen: "advertising report with repeated data to didDiscover, 16 per turn"
        case .readServed: "read request to didReceiveRead, and the app's response"
        case .writeServed: "write request to didReceiveWrite, and the app's response"
        case .writeCommandServed: "write command to didReceiveWrite, 8 per turn"
        case .notificationSent: "updateValue to a notification"
        case .notificationReceived: "notification to didUpdateValueFor, 8 per turn"
        case .notificationAlone: "notification to didUpdateValueFor, one per turn"
        case .read: "readValue to didUpdateValueFor"
        case .write: "writeValue to didWriteValueFor"
        case .writeCommand: "writeValue without response"
        }
    }

    /// True if the app is a central.
    private var isOfCentral: Bool {
        switch self {
        case .advertisement, .advertisementSeen, .notificationReceived, .notificationAlone, .read, .write,
            .writeCommand:
            true
        case .readServed, .writeServed, .writeCommandServed, .notificationSent: false
        }
    }

    /// The number of operations in a turn; packets for operations of the same turn arrive together.
    var batch: Int {
        switch self {
        case .advertisement, .advertisementSeen: 16
        case .writeCommandServed, .notificationReceived: 8
        case .notificationSent, .notificationAlone, .readServed, .writeServed, .read, .write, .writeCommand: 1
        }
    }

    private func makeApp(on transport: FeedTransport) -> any FacadeApp {
        if isOfCentral { return FacadeCentral(self, transport) }
        return FacadePeripheral(self, transport)
    }

    /// Measures a number of operations, rounded up to a multiple of ``batch``, by way of `route`.
    func measure(operations: Int, by route: FacadeRoute = .direct) -> Result {
        let turns = (operations + batch - 1) / batch
        let transport = FeedTransport(peer: isOfCentral ? .peripheral : .central)
        let host = Host(configuration: .init(identifierSecret: 1), random: SystemRandomNumberGenerator())
        let runner = HostRunner(host, transport: transport)
        runner.start()
        let run = route.withLink(to: runner) { link in
            let app = Bluetooth.$link.withValue(link) { makeApp(on: transport) }
            return carryOut(app, on: transport, turns: turns)
        }
        runner.stop()
        return Result(
            workload: rawValue,
            explanation: explanation + (route == .daemon ? ", through the daemon" : ""),
            figures: [
                .init("operations", .count(turns * batch)),
                .init("ns", .number((run?.time ?? 0) / Double(turns * batch))),
            ],
            isGood: run?.isGood ?? false
        )
    }

    /// Lets an app run turns; returns the processor time in nanoseconds, and whether all values were correct.
    private func carryOut(
        _ app: any FacadeApp,
        on transport: FeedTransport,
        turns: Int
    ) -> (time: Double, isGood: Bool) {
        let isReady = app.ready.wait(timeout: .now() + .seconds(300)) == .success
        transport.closeToAir()
        let stopwatch = Stopwatch(.processor)
        if isReady { app.run(turns: turns) }
        let isDone = isReady && app.done.wait(timeout: .now() + .seconds(600)) == .success
        return (Double(stopwatch.nanoseconds), isDone && app.isGood)
    }
}

/// An app that can run some of the workloads.
protocol FacadeApp: AnyObject, Sendable {
    /// Signalled when the app is ready to run a workload.
    var ready: DispatchSemaphore { get }
    /// Signalled when all operations are complete.
    var done: DispatchSemaphore { get }
    /// True if all values were correct.
    var isGood: Bool { get }
    /// Runs a number of turns with ``FacadeWorkload/batch`` operations each.
    ///
    /// Can be called from any thread.
    func run(turns: Int)
}
