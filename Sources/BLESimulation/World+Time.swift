import BLEHost
import BLERuntime
import BLEWire
import Dispatch

extension World {
    /// Lets `duration` pass, which takes no longer than what happens in it.
    ///
    /// Time stands still while apps work: what an app asks for in a delegate method is asked at the instant of the
    /// event, and one manager is served at a time. The world goes on when the queues on which managers were called and
    /// the main queue are empty, and nothing new has been asked for meanwhile; so work that hops between those, or that
    /// a task of the main actor carries on, is waited for. So are the delegates of a channel's streams, on whichever
    /// run loop they are scheduled, as long as a thread runs that loop: one that keeps them waiting for a second of the
    /// computer's time is waited for no longer. What an app does on a queue or thread of its own choice, such as
    /// reading streams there without being told, or with timers, happens at a time that only the computer knows: it
    /// works, but no two runs are alike. ``clock`` and ``scheduler`` are for apps that can be given one.
    ///
    /// Managers may use the main queue, and this method may be called from the main actor; the main thread must not be
    /// blocked meanwhile.
    public func advance(by duration: Duration) async {
        precondition(realTime.withLock { $0 == nil }, "a world that runs in real time needs nobody to advance it")
        let end = core.withLock { $0.now + duration }
        await settleApps()
        while core.withLock({ $0.run(until: end) }) { await deliver() }
    }

    /// Lets time pass until `isDone` says so, and looks every ten milliseconds of the world and at the end.
    ///
    /// ```swift
    /// #expect(await world.advance(atMost: .seconds(60)) { reader.values.count == 3 })
    /// ```
    ///
    /// - Returns: Whether it was so within `duration`.
    public func advance(atMost duration: Duration, until isDone: () -> Bool) async -> Bool {
        let end = now + duration
        while !isDone() {
            let rest = end - now
            guard rest > .zero else { return false }
            await advance(by: min(rest, .milliseconds(10)))
        }
        return true
    }

    /// Has the world keep pace with the computer's clock from now on, by itself.
    ///
    /// That is for people and for programs that have to do with the outside; two runs are never alike. The world stops
    /// when nobody holds it any more.
    public func runInRealTime() {
        let age = now
        let started = realTime.withLock { realTime -> RealTimeClock? in
            guard realTime == nil else { return nil }
            realTime = RealTimeClock(self, age: age)
            return realTime
        }
        started?.start()
    }

    /// Lets no time pass until the app has been called on a thread of its own choice.
    func hold() -> Hold? { runsInRealTime ? nil : holds.add() }

    /// Whether time passes by itself.
    var runsInRealTime: Bool { realTime.withLock { $0 != nil } }

    /// Has a world in real time look at what it was told.
    func nudge() { realTime.withLock { $0 }?.nudge() }

    /// Lets apps hear what there is to hear, one manager at a time, and waits until they have done all that they do
    /// about it.
    private func deliver() async {
        for launch in core.withLock({ $0.takeLaunches() }) {
            await withCheckedContinuation { done in post(launch) { done.resume() } }
            await settleApps()
        }
        let deliveries = core.withLock { $0.takeDeliveries() }
        let queues = Self.distinct(deliveries.map(\.session.appQueue))
        let before = await withCheckedContinuation { done in
            deliver(deliveries[...]) { [self] in
                let before = activity
                visit([.main] + queues) { done.resume(returning: before) }
            }
        }
        await Task.yield()
        if activity != before { await settle(queues) }
        while let sleeper = core.withLock({ $0.sleepers.takeAwake() }) {
            sleeper.wake()
            await settleApps(and: sleeper.queue)
        }
    }

    /// Delivers one after the other without returning in between, and calls `done` on some queue at the end.
    private func deliver(_ deliveries: ArraySlice<WorldDelivery>, done: @escaping @Sendable () -> Void) {
        guard let delivery = deliveries.first else { return done() }
        post(delivery) { [self] in
            let queue = delivery.session.appQueue
            visit([queue, queue]) { [self] in deliver(deliveries.dropFirst(), done: done) }
        }
    }

    /// Has a manager called on its queue, in the world that it belongs to, and calls `done` there afterwards.
    func post(_ delivery: WorldDelivery, done: @escaping @Sendable () -> Void) {
        let session = delivery.session
        session.queue.async { [self] in
            Bluetooth.$link.withValue(link(of: session)) {
                for event in delivery.events { session.receive(event) }
            }
            done()
        }
    }

    /// Has an app launched on the main queue, in the world that it belongs to, and calls `done` there afterwards.
    func post(_ launch: WorldLaunch, done: @escaping @Sendable () -> Void) {
        DispatchQueue.main.async { [self] in
            Bluetooth.$link.withValue(machine(at: launch.machine)) {
                MainActor.assumeIsolated { launch.launcher(launch.launch) }
            }
            done()
        }
    }

    /// Waits for the queues of all apps, which may be at work on what a test has started, and for one more.
    private func settleApps(and queue: DispatchQueue? = nil) async {
        await settle(Self.distinct(core.withLock { $0.appQueues } + [queue].compactMap(\.self)))
    }

    /// Waits until `queues` and the main queue are empty, and nobody asks for anything more.
    ///
    /// A queue that feeds itself for ever is left alone after a while.
    private func settle(_ queues: [DispatchQueue]) async {
        for _ in 0..<1_000 {
            let before = activity
            await withCheckedContinuation { done in visit([.main] + queues) { done.resume() } }
            await Task.yield()
            guard activity != before else { return }
        }
    }

    /// How much has been asked for, and how often an app was called on a thread of its own, since the beginning.
    private var activity: Int { core.withLock { $0.requestCount } + holds.count }

    private static func distinct(_ queues: [DispatchQueue]) -> [DispatchQueue] {
        var result: [DispatchQueue] = []
        for queue in queues where !result.contains(where: { $0 === queue }) { result.append(queue) }
        return result
    }

    /// Passes through the end of each queue in turn, then calls `done` when no thread of an app is about to be called.
    private func visit(_ queues: ArraySlice<DispatchQueue>, done: @escaping @Sendable () -> Void) {
        guard let queue = queues.first else { return holds.wait(done: done) }
        queue.async(flags: .barrier) { [self] in visit(queues.dropFirst(), done: done) }
    }
}
