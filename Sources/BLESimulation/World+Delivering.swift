import BLERuntime
import BLEWire
import Dispatch

// Delivery of events to apps: to one manager at a time, and to the next one when the previous one has processed its
// events.
extension World {
    /// The maximum number of instants whose events are delivered before the main queue can do other work.
    private static let mostDirectInstants = 100

    private enum DirectDelivery {
        /// Nothing was delivered, because the main queue has other work or may have some.
        case nothing
        /// Everything that was delivered has been processed.
        case settled
        /// An app may still be working. The caller must wait for the app, and then make the rest of this instant's
        /// deliveries.
        case unsettled(ArraySlice<WorldDelivery>)
    }

    /// Delivers events to apps, and waits until the apps have processed them.
    ///
    /// As long as the world need not wait for an app, goes on with the events of later instants, up to `end`.
    func deliver(until end: Instant) async {
        if MainQueue.mayBeSupported, core.withLock({ $0.mayDeliverDirectly }) {
            switch await deliverDirectly(until: end) {
            case .nothing: break
            case .settled: return
            case .unsettled(let rest): return await deliver(rest, afterWorkOn: [.main, .main], [.main])
            }
        }
        for launch in core.withLock({ $0.takeLaunches() }) {
            await withCheckedContinuation { done in post(launch) { done.resume() } }
            await settleApps()
        }
        let deliveries = core.withLock { $0.takeDeliveries() }
        await deliver(deliveries[...], afterWorkOn: [], Self.distinct(deliveries.map(\.session.appQueue)))
        while let timer = core.withLock({ $0.timers.takeReady() }) {
            timer.wake()
            await settleApps(and: timer.queue.map(AppQueue.init))
        }
    }

    /// Delivers events directly on the main queue, one instant after another, until the world must wait for an app.
    private func deliverDirectly(until end: Instant) async -> DirectDelivery {
        await withCheckedContinuation { done in
            DispatchQueue.main.async { [self] in done.resume(returning: deliverHere(until: end)) }
        }
    }

    private func deliverHere(until end: Instant) -> DirectDelivery {
        guard MainQueue.checkSupport(), MainQueue.isIdle else { return .nothing }
        let holdCount = holds.count
        for _ in 0..<Self.mostDirectInstants {
            guard let deliveries = core.withLock({ $0.takeDirectDeliveries(until: end) }) else { break }
            for (index, delivery) in deliveries.enumerated() {
                deliverToManager(delivery)
                guard MainQueue.isIdle, holds.count == holdCount else { return .unsettled(deliveries[(index + 1)...]) }
            }
        }
        return .settled
    }

    /// Waits for the `busy` queues, then makes the deliveries one after the other, then waits until `queues` are empty.
    private func deliver(
        _ deliveries: ArraySlice<WorldDelivery>,
        afterWorkOn busy: [AppQueue],
        _ queues: [AppQueue]
    ) async {
        let before = await withCheckedContinuation { done in
            waitForWork(busy[...]) { [self] in
                deliver(deliveries) { [self] in
                    let before = activity
                    waitForWork([.main] + queues) { done.resume(returning: before) }
                }
            }
        }
        await Task.yield()
        if activity != before { await settle(queues) }
    }

    /// Makes deliveries one after the other, each when the queue of the previous app is empty.
    ///
    /// Calls `done` on some queue at the end.
    private func deliver(_ deliveries: ArraySlice<WorldDelivery>, done: @escaping @Sendable () -> Void) {
        guard let delivery = deliveries.first else { return done() }
        post(delivery) { [self] in
            let queue = delivery.session.appQueue
            waitForWork([queue, queue]) { [self] in deliver(deliveries.dropFirst(), done: done) }
        }
    }

    /// Delivers events to a manager on its queue, and calls `done` there afterwards.
    func post(_ delivery: WorldDelivery, done: @escaping @Sendable () -> Void) {
        delivery.session.queue.async { [self] in
            deliverToManager(delivery)
            done()
        }
    }

    /// Delivers events to a manager.
    ///
    /// Managers that the app creates in response use the same machine.
    private func deliverToManager(_ delivery: WorldDelivery) {
        let session = delivery.session
        Bluetooth.$link.withValue(link(of: session)) {
            for event in delivery.events { session.receive(event) }
        }
    }

    /// Launches an app on the main queue, and calls `done` there afterwards.
    ///
    /// Managers that the app creates use its machine.
    func post(_ launch: WorldLaunch, done: @escaping @Sendable () -> Void) {
        DispatchQueue.main.async { [self] in
            Bluetooth.$link.withValue(machine(at: launch.machine)) {
                MainActor.assumeIsolated { launch.launcher(launch.launch) }
            }
            done()
        }
    }

    /// Waits until `queue` and the queues of all apps are empty.
    ///
    /// Apps may have work even if the world has delivered nothing, because a test may have called them.
    func settleApps(and queue: AppQueue? = nil) async {
        await settle(Self.distinct(core.withLock { $0.appQueues } + [queue].compactMap(\.self)))
    }

    /// Waits until `queues` and the main queue are empty and apps make no more requests.
    ///
    /// If a queue never becomes empty, gives up after a while.
    private func settle(_ queues: [AppQueue]) async {
        for _ in 0..<1_000 {
            let before = activity
            await withCheckedContinuation { done in waitForWork([.main] + queues) { done.resume() } }
            await Task.yield()
            guard activity != before else { return }
        }
    }

    /// The number of actions that have ever been queued, plus the number of holds that have ever been added.
    ///
    /// If it changes, an app has been active.
    private var activity: Int { core.withLock { $0.requestCount } + holds.count }

    private static func distinct(_ queues: [AppQueue]) -> [AppQueue] {
        var known: Set<AppQueue> = []
        return queues.filter { known.insert($0).inserted }
    }

    /// Waits for the current work of each queue in turn.
    ///
    /// Then calls `done` once no app is about to be called on a thread of its own.
    private func waitForWork(_ queues: ArraySlice<AppQueue>, done: @escaping @Sendable () -> Void) {
        guard let next = queues.first else { return holds.wait(done: done) }
        next.queue.async(flags: .barrier) { [self] in waitForWork(queues.dropFirst(), done: done) }
    }
}
