import BLERuntime
import Foundation

/// The events of a channel's two streams, delivered to their delegates on the run loops that the app chose.
///
/// If both streams are scheduled on the same run loop, they share one run loop source, which calls the input stream's
/// delegate first, so that all runs of a simulated world are the same. Sendable because a lock protects the state;
/// delegates are called without the lock, and only on their run loops.
final class ChannelEvents: @unchecked Sendable {
    typealias Side = ChannelFlow.Side

    private struct Listening {
        weak var stream: Stream?
        weak var delegate: (any StreamDelegate)?
    }

    private struct Scheduling {
        let loop: RunLoop
        let mode: RunLoop.Mode
        let signal: RunLoopSignal
        /// The streams that are scheduled on this run loop in this mode.
        var sides: [Side]
        /// True if ``signal`` has been signalled and has not called the delegates yet.
        ///
        /// Until it calls them, ``hold`` stops virtual time.
        var isSignalled = false
        var hold: TimeHold?
    }

    private let order: Int
    private let hold: @Sendable () -> TimeHold?
    private let isDue: @Sendable (Side) -> Bool
    private let next: @Sendable (Side, _ delivered: Stream.Event) -> Stream.Event?
    private let lock = NSLock()
    private var listening: [Side: Listening] = [:]
    private var schedulings: [Scheduling] = []

    /// Creates the events of a channel, whose streams are set later by ``attach(_:as:)``.
    ///
    /// - Parameters:
    ///   - order: The position of the channel among those on the same run loop; the lowest is called first.
    ///   - hold: Stops the time of a simulated world until the returned object is released.
    ///   - isDue: Returns whether a stream has an event to report.
    ///   - next: Returns the next event to report that is not in `delivered`, and marks it as reported.
    init(
        order: Int,
        hold: @escaping @Sendable () -> TimeHold?,
        isDue: @escaping @Sendable (Side) -> Bool,
        next: @escaping @Sendable (Side, _ delivered: Stream.Event) -> Stream.Event?
    ) {
        self.order = order
        self.hold = hold
        self.isDue = isDue
        self.next = next
    }

    deinit { for place in schedulings { place.signal.remove() } }

    /// Sets the stream of a side.
    ///
    /// Called before that side has any events.
    func attach(_ stream: Stream, as side: Side) { lock.withLock { listening[side, default: .init()].stream = stream } }

    func delegate(of side: Side) -> (any StreamDelegate)? { lock.withLock { listening[side]?.delegate } }

    func setDelegate(_ delegate: (any StreamDelegate)?, of side: Side) {
        lock.withLock { listening[side, default: .init()].delegate = delegate }
        signal()
    }

    func schedule(_ side: Side, in loop: RunLoop, _ mode: RunLoop.Mode) {
        let name = ObjectIdentifier(loop)
        lock.withLock {
            if let index = schedulings.firstIndex(where: { $0.loop === loop && $0.mode == mode }) {
                if !schedulings[index].sides.contains(side) { schedulings[index].sides.append(side) }
            } else {
                let signal = RunLoopSignal(in: loop, mode: mode, order: order) { [weak self] in
                    self?.callDelegates(name, mode)
                }
                schedulings.append(Scheduling(loop: loop, mode: mode, signal: signal, sides: [side]))
            }
        }
        signal()
    }

    func remove(_ side: Side, from loop: RunLoop, _ mode: RunLoop.Mode) {
        remove(side) { $0.loop === loop && $0.mode == mode }
    }

    /// Removes one side from all run loops, so that its delegate is no longer called.
    func removeAll(_ side: Side) { remove(side) { _ in true } }

    private func remove(_ side: Side, from matches: (Scheduling) -> Bool) {
        let empty: [Scheduling] = lock.withLock {
            for index in schedulings.indices where matches(schedulings[index]) {
                schedulings[index].sides.removeAll { $0 == side }
            }
            defer { schedulings.removeAll(where: \.sides.isEmpty) }
            return schedulings.filter(\.sides.isEmpty)
        }
        for place in empty { place.signal.remove() }
    }

    /// Signals the run loops on which a delegate has to be called.
    func signal() {
        let due = Side.allCases.filter(isDue)
        guard !due.isEmpty else { return }
        let signals: [RunLoopSignal] = lock.withLock {
            let heard = due.filter { listening[$0]?.delegate != nil }
            return schedulings.indices.compactMap { index in
                guard !schedulings[index].isSignalled, schedulings[index].sides.contains(where: heard.contains) else {
                    return nil
                }
                (schedulings[index].isSignalled, schedulings[index].hold) = (true, hold())
                return schedulings[index].signal
            }
        }
        for signal in signals { signal.signal() }
    }

    /// Calls the delegates for the pending events.
    ///
    /// Each delegate gets each kind of event at most once per turn of the run loop. An event that occurs again during
    /// the calls waits for the next turn.
    private func callDelegates(_ loop: ObjectIdentifier, _ mode: RunLoop.Mode) {
        let (sides, hold): ([Side], TimeHold?) = lock.withLock {
            let index = schedulings.firstIndex { ObjectIdentifier($0.loop) == loop && $0.mode == mode }
            guard let index, schedulings[index].isSignalled else { return ([], nil) }
            defer { (schedulings[index].isSignalled, schedulings[index].hold) = (false, nil) }
            return (schedulings[index].sides, schedulings[index].hold)
        }
        guard !sides.isEmpty else { return }
        for side in Side.allCases where sides.contains(side) { callDelegates(side) }
        signal()
        withExtendedLifetime(hold) {}
    }

    private func callDelegates(_ side: Side) {
        let listening = lock.withLock { self.listening[side] }
        guard let stream = listening?.stream, let delegate = listening?.delegate else { return }
        var delivered: Stream.Event = []
        while let event = next(side, delivered) {
            delivered.insert(event)
            delegate.stream(stream, handle: event)
        }
    }
}
