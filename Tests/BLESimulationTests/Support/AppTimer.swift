import Foundation
import Synchronization

/// The ways in which an app waits by the computer's clock.
enum AppTimer: CaseIterable, Sendable {
    case asyncAfter
    case dispatchSource
    case taskSleep
    /// On the run loop of the main thread, as an app's main thread makes it.
    case mainRunLoop
    /// On the run loop of a thread of its own.
    case ownRunLoop

    /// Calls `fire` once, a moment later.
    func start(_ fire: @escaping @Sendable () -> Void) {
        switch self {
        case .asyncAfter: DispatchQueue.main.asyncAfter(deadline: .now() + 0.05, execute: fire)
        case .dispatchSource: Self.startSource(fire)
        case .taskSleep:
            Task {
                try? await Task.sleep(for: .milliseconds(50))
                fire()
            }
        case .mainRunLoop:
            DispatchQueue.main.async {
                let timer = Timer(timeInterval: 0.05, repeats: false) { _ in fire() }
                RunLoop.main.add(timer, forMode: .common)
            }
        case .ownRunLoop:
            let thread = Thread {
                let timer = Timer(timeInterval: 0.05, repeats: false) { _ in fire() }
                RunLoop.current.add(timer, forMode: .default)
                RunLoop.current.run()
            }
            thread.start()
        }
    }

    private static func startSource(_ fire: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "app"))
        source.schedule(deadline: .now() + 0.05)
        // The handler keeps the source until it has fired.
        source.setEventHandler {
            fire()
            source.cancel()
        }
        source.resume()
    }
}

/// Whether something has happened, on whichever thread.
final class Flag: Sendable {
    private let state = Mutex(false)

    var isRaised: Bool { state.withLock { $0 } }
    func raise() { state.withLock { $0 = true } }
}
