import BLERuntime
import Foundation

/// Tells the delegate of one stream what it has to hear of, on the run loops on which the stream is scheduled.
///
/// Sendable because a lock guards what changes; the delegate is called without it, on its run loops alone.
final class StreamEvents: @unchecked Sendable {
    private let lock = NSLock()
    private let hold: @Sendable () -> Hold?
    private let next: @Sendable (_ told: Stream.Event) -> Stream.Event?
    private let isDue: @Sendable () -> Bool
    private weak var stream: Stream?
    private weak var listener: (any StreamDelegate)?
    private var bells: [(loop: RunLoop, mode: RunLoop.Mode, bell: RunLoopBell)] = []
    private var isRung = false
    /// What keeps a simulated world from going on until the delegate has heard.
    private var held: Hold?

    /// Creates what tells the delegate of a stream that is not known yet.
    ///
    /// - Parameters:
    ///   - hold: Keeps a simulated world waiting.
    ///   - isDue: Whether there is an event to be told.
    ///   - next: The next event to be told, if there is one that is not among those given; it will be told.
    init(
        hold: @escaping @Sendable () -> Hold?,
        isDue: @escaping @Sendable () -> Bool,
        next: @escaping @Sendable (_ told: Stream.Event) -> Stream.Event?
    ) {
        self.hold = hold
        self.isDue = isDue
        self.next = next
    }

    deinit { for (_, _, bell) in bells { bell.remove() } }

    /// Says whose events these are, before there can be any.
    func belong(to stream: Stream) { lock.withLock { self.stream = stream } }

    var delegate: (any StreamDelegate)? {
        get { lock.withLock { listener } }
        set {
            lock.withLock { listener = newValue }
            ring()
        }
    }

    func schedule(in loop: RunLoop, _ mode: RunLoop.Mode) {
        guard !lock.withLock({ bells.contains { $0.loop === loop && $0.mode == mode } }) else { return }
        let bell = RunLoopBell(in: loop, mode: mode) { [weak self] in self?.tell() }
        lock.withLock {
            bells.append((loop, mode, bell))
            if isRung { bell.ring() }
        }
        ring()
    }

    func remove(from loop: RunLoop, _ mode: RunLoop.Mode) { remove { $0 === loop && $1 == mode } }

    /// Tells nobody anything more.
    func removeAll() { remove { _, _ in true } }

    private func remove(where matches: (RunLoop, RunLoop.Mode) -> Bool) {
        let removed: ([RunLoopBell], Hold?) = lock.withLock {
            let removed = bells.filter { matches($0.loop, $0.mode) }.map(\.bell)
            bells.removeAll { matches($0.loop, $0.mode) }
            guard bells.isEmpty else { return (removed, nil) }
            isRung = false
            defer { held = nil }
            return (removed, held)
        }
        for bell in removed.0 { bell.remove() }
    }

    /// Has the delegate called if there is something to tell, and somebody who hears it.
    func ring() {
        guard isDue() else { return }
        let bells: [RunLoopBell] = lock.withLock {
            guard !isRung, listener != nil else { return [] }
            let bells = self.bells.map(\.bell)
            isRung = !bells.isEmpty
            if isRung { held = hold() }
            return bells
        }
        for bell in bells { bell.ring() }
    }

    /// Tells what there is to tell now; what comes up meanwhile has a turn of its own, so that others have theirs.
    private func tell() {
        let (isWanted, held, delegate, stream) = lock.withLock {
            defer { (isRung, self.held) = (false, nil) }
            return (isRung, self.held, listener, self.stream)
        }
        guard isWanted, let delegate, let stream else { return }
        var told: Stream.Event = []
        while let event = next(told) {
            told.insert(event)
            delegate.stream(stream, handle: event)
        }
        ring()
        withExtendedLifetime(held) {}
    }
}
