import BLERuntime
import BLEWire
import Dispatch

// How apps hear what they are to hear: one manager at a time, and none before the last one is done with it.
extension World {
    /// The maximum number of deliveries before other work on the main queue.
    private static let mostAtOnce = 100

    private enum OnDeliverDirectly {
        /// The main queue has other items, or it cannot be determined.
        case nothing
        /// Everything that was delivered has been processed.
        case settled
        /// There may be something to wait for; afterwards, the rest of the deliveries of this instant follow.
        case unsettled(ArraySlice<WorldDelivery>)
    }

    /// Delivers events to apps and waits until they have processed them; continues until `end` while there is nothing
    /// to wait for.
    func deliver(until end: Instant) async {
        if MainQueue.mayBeSupported, core.withLock({ $0.maySettleAtOnce }) {
            switch await deliverAtOnce(until: end) {
            case .nothing: break
            case .settled: return
            case .unsettled(let rest): return await settle(after: rest, whileAtWork: [.main, .main], [.main])
            }
        }
        for launch in core.withLock({ $0.takeLaunches() }) {
            await withCheckedContinuation { done in post(launch) { done.resume() } }
            await settleApps()
        }
        let deliveries = core.withLock { $0.takeDeliveries() }
        await settle(after: deliveries[...], whileAtWork: [], Self.distinct(deliveries.map(\.session.appQueue)))
        while let sleeper = core.withLock({ $0.sleepers.takeAwake() }) {
            sleeper.wake()
            await settleApps(and: sleeper.queue.map(AppQueue.init))
        }
    }

    /// Delivers on the main queue, instant after instant, until something must be waited for.
    private func deliverAtOnce(until end: Instant) async -> OnDeliverDirectly {
        await withCheckedContinuation { done in
            DispatchQueue.main.async { [self] in done.resume(returning: deliverHere(until: end)) }
        }
    }

    private func deliverHere(until end: Instant) -> OnDeliverDirectly {
        guard MainQueue.checkSupport(), MainQueue.isQuiet else { return .nothing }
        let holdCount = holds.count
        for _ in 0..<Self.mostAtOnce {
            guard let deliveries = core.withLock({ $0.takeDeliveriesAtOnce(until: end) }) else { break }
            for (index, delivery) in deliveries.enumerated() {
                hear(delivery)
                guard MainQueue.isQuiet, holds.count == holdCount else { return .unsettled(deliveries[(index + 1)...]) }
            }
        }
        return .settled
    }

    /// Waits for the `busy` queues, then delivers one after the other, and waits until `queues` are empty.
    private func settle(
        after deliveries: ArraySlice<WorldDelivery>,
        whileAtWork busy: [AppQueue],
        _ queues: [AppQueue]
    ) async {
        let before = await withCheckedContinuation { done in
            visit(busy[...]) { [self] in
                deliver(deliveries) { [self] in
                    let before = activity
                    visit([.main] + queues) { done.resume(returning: before) }
                }
            }
        }
        await Task.yield()
        if activity != before { await settle(queues) }
    }

    /// Delivers one after the other without returning, and calls `done` on some queue at the end.
    private func deliver(_ deliveries: ArraySlice<WorldDelivery>, done: @escaping @Sendable () -> Void) {
        guard let delivery = deliveries.first else { return done() }
        post(delivery) { [self] in
            let queue = delivery.session.appQueue
            visit([queue, queue]) { [self] in deliver(deliveries.dropFirst(), done: done) }
        }
    }

    /// Calls a manager on its queue, and calls `done` there afterwards.
    func post(_ delivery: WorldDelivery, done: @escaping @Sendable () -> Void) {
        delivery.session.queue.async { [self] in
            hear(delivery)
            done()
        }
    }

    /// Calls a manager within its world.
    private func hear(_ delivery: WorldDelivery) {
        let session = delivery.session
        Bluetooth.$link.withValue(link(of: session)) {
            for event in delivery.events { session.receive(event) }
        }
    }

    /// Launches an app on the main queue within its world, and calls `done` there afterwards.
    func post(_ launch: WorldLaunch, done: @escaping @Sendable () -> Void) {
        DispatchQueue.main.async { [self] in
            Bluetooth.$link.withValue(machine(at: launch.machine)) {
                MainActor.assumeIsolated { launch.launcher(launch.launch) }
            }
            done()
        }
    }

    /// Waits for the queues of all apps, which may be working for a test, and for one more.
    func settleApps(and queue: AppQueue? = nil) async {
        await settle(Self.distinct(core.withLock { $0.appQueues } + [queue].compactMap(\.self)))
    }

    /// Waits until `queues` and the main queue are empty and no more requests are made.
    ///
    /// A queue that refills itself endlessly is ignored after a while.
    private func settle(_ queues: [AppQueue]) async {
        for _ in 0..<1_000 {
            let before = activity
            await withCheckedContinuation { done in visit([.main] + queues) { done.resume() } }
            await Task.yield()
            guard activity != before else { return }
        }
    }

    /// The number of requests, and of calls of apps on their own threads, since the beginning.
    private var activity: Int { core.withLock { $0.requestCount } + holds.count }

    private static func distinct(_ queues: [AppQueue]) -> [AppQueue] {
        var known: Set<AppQueue> = []
        return queues.filter { known.insert($0).inserted }
    }

    /// Passes through the end of each queue in turn, then calls `done` when no app's thread is about to be called.
    private func visit(_ queues: ArraySlice<AppQueue>, done: @escaping @Sendable () -> Void) {
        guard let next = queues.first else { return holds.wait(done: done) }
        next.queue.async(flags: .barrier) { [self] in visit(queues.dropFirst(), done: done) }
    }
}
