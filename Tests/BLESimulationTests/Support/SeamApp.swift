import BLEHost
import BLERuntime
import BLESimulation
import Dispatch
import Synchronization

/// An app at the seam between facade and host, which writes down what it hears and asks for.
///
/// Sendable because it works on its queue, and is looked into when the world stands still.
class SeamApp: @unchecked Sendable {
    let queue: DispatchQueue
    private(set) var events: [ClientEvent] = []
    private(set) var requests: [ClientRequest] = []
    /// An app that lives as long as this one.
    var companion: SeamApp?
    /// Called after each event.
    var afterEvent: () -> Void = {}
    private var session: (any HostSession)?

    init(on queue: DispatchQueue = DispatchQueue(label: "app")) { self.queue = queue }

    /// Opens a session on `link`.
    func start(_ role: ClientRole, on link: any HostLink) {
        queue.suspend()
        session = link.open(role, on: queue) { [weak self] event in
            guard let self else { return }
            dispatchPrecondition(condition: .onQueue(queue))
            events.append(event)
            react(to: event)
            afterEvent()
        }
        queue.resume()
    }

    /// Does something about an event; for subclasses.
    func react(to event: ClientEvent) {}

    func send(_ request: ClientRequest) {
        requests.append(request)
        session?.send(request)
    }

    func close() { session?.close() }

    /// Keeps the world at this instant.
    func holdWorld() -> TimeHold? { session?.hold() }

    /// The states that it heard of.
    var states: [HostState] {
        events.compactMap { event in
            if case .stateChanged(let state) = event { state } else { nil }
        }
    }
}

/// Waits until `condition` holds of `app`, looking after each event, or the test runs out of time.
func waiting<App: SeamApp>(for app: App, until condition: @escaping @Sendable (App) -> Bool) async {
    let (fulfilments, fulfilled) = AsyncStream.makeStream(of: Void.self)
    app.queue.async {
        guard !condition(app) else { return fulfilled.finish() }
        app.afterEvent = { [unowned app] in
            guard condition(app) else { return }
            app.afterEvent = {}
            fulfilled.finish()
        }
    }
    for await _ in fulfilments {}
}
