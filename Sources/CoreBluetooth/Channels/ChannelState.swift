import BLEHost
import BLERuntime
import BLEWire
import Foundation

/// The shared state of a channel's two streams: the flow of octets between them and the host.
///
/// The streams can be used on any thread, including the one that receives host events. Sendable because a lock protects
/// the state; the app is never called while the lock is held.
final class ChannelState: @unchecked Sendable {
    let id: ChannelID
    let psm: CBL2CAPPSM
    let peer: PeerIdentifier
    private let session: any HostSession
    let reference: ManagerReference
    private let condition = NSCondition()
    private var flow: ChannelFlow
    /// True if a block that signals host events to the streams' delegates is already queued.
    private var willSignal = false
    /// The events of the two streams; this object calls the streams' delegates.
    ///
    /// Set by the initializer, and never changed.
    private(set) var events: ChannelEvents!

    init(
        _ channel: OpenedChannel,
        with peer: PeerIdentifier,
        session: any HostSession,
        reference: ManagerReference
    ) {
        id = channel.id
        psm = channel.psm.wire
        self.peer = peer
        self.session = session
        self.reference = reference
        flow = ChannelFlow(unitLength: max(1, channel.outgoingMTU))
        events = ChannelEvents(order: Int(truncatingIfNeeded: id.rawValue)) {
            session.hold()
        } isDue: { [weak self] side in
            self?.withFlow { $0.dueEvent(of: side) != nil } ?? false
        } next: { [weak self] side, delivered in
            self?.withFlow { $0.nextEvent(of: side, besides: delivered) }
        }
    }

    /// Calls `body` with the flow.
    ///
    /// `body` must not change anything that another thread waits for.
    func withFlow<Result>(_ body: (inout ChannelFlow) -> Result) -> Result { condition.withLock { body(&flow) } }

    /// Changes the flow for a call by the app: calls `body`, sends the requests that it returns to the host, wakes
    /// blocked reads and writes, and signals the streams' delegates.
    func change(_ body: (inout ChannelFlow) -> ChannelFlow.Requests) {
        condition.withLock {
            send(body(&flow))
            condition.broadcast()
        }
        events.signal()
    }

    /// Changes the flow for a host event, on the manager's queue, like ``change(_:)``; but the delegates are signalled
    /// later.
    ///
    /// The delegates are signalled once all events that arrived together have been processed. Otherwise, their threads
    /// could read and write between two of these events, and no two runs of a simulated world would be the same.
    func changeLater(_ body: (inout ChannelFlow) -> ChannelFlow.Requests) {
        let mustSignal = condition.withLock {
            send(body(&flow))
            condition.broadcast()
            defer { willSignal = true }
            return !willSignal
        }
        guard mustSignal else { return }
        let hold = session.hold()
        reference.queue.async { [self] in
            condition.withLock { willSignal = false }
            events.signal()
            withExtendedLifetime(hold) {}
        }
    }

    func read(into destination: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let count = condition.withLock {
            if canWait { while flow.isWaitingForBytes { condition.wait() } }
            let (count, requests) = flow.read(into: destination)
            send(requests)
            return count
        }
        events.signal()
        return count
    }

    func write(_ octets: UnsafeBufferPointer<UInt8>) -> Int {
        let count = condition.withLock {
            if canWait { while flow.isWaitingForSpace { condition.wait() } }
            let (count, requests) = flow.write(octets)
            send(requests)
            return count
        }
        events.signal()
        return count
    }

    /// Sends requests.
    ///
    /// Called while the lock is held, so that requests from several threads are sent in the order in which they changed
    /// the flow.
    private func send(_ requests: ChannelFlow.Requests) {
        for request in requests { session.send(.channel(id, request)) }
    }

    /// True if the calling thread may block.
    ///
    /// It must not block if it delivers host events itself, or in virtual time, which does not pass while a thread is
    /// blocked.
    private var canWait: Bool { session.passesTime && !ManagerQueues.isCurrent }
}

/// The mark on the queues on which managers receive host events.
enum ManagerQueues {
    private static let key = DispatchSpecificKey<Void>()

    static func mark(_ queue: DispatchQueue) { queue.setSpecific(key: key, value: ()) }

    /// True if the caller runs on a manager's queue or on the main thread.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil || Thread.isMainThread }
}
