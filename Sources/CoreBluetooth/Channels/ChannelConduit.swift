import BLEHost
import BLERuntime
import BLEWire
import Foundation

/// The shared state of a channel's two streams: the flow of octets between them and the host.
///
/// The streams can be used on any thread, also on the one that receives host events. Sendable because a lock protects
/// the state; the app is never called while it is held.
final class ChannelConduit: @unchecked Sendable {
    let id: ChannelID
    let psm: CBL2CAPPSM
    let peer: PeerIdentifier
    private let session: any HostSession
    let reference: ManagerReference
    private let condition = NSCondition()
    private var flow: ChannelFlow
    /// True if the delegates are about to be called for host events.
    private var willRing = false
    /// Calls the delegates.
    ///
    /// Set before the conduit is shared.
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
            self?.look { $0.dueEvent(of: side) != nil } ?? false
        } next: { [weak self] side, told in
            self?.look { $0.nextEvent(of: side, besides: told) }
        }
    }

    /// Reads the flow without changing anything that others wait for.
    func look<Result>(_ body: (inout ChannelFlow) -> Result) -> Result { condition.withLock { body(&flow) } }

    /// Changes the flow for the app, sends the resulting requests to the host, and notifies waiting threads.
    func change(_ body: (inout ChannelFlow) -> ChannelFlow.Requests) {
        condition.withLock {
            send(body(&flow))
            condition.broadcast()
        }
        events.signal()
    }

    /// Changes the flow for a host event, on the manager's queue.
    ///
    /// Waiting threads are notified after all simultaneous events were processed. Otherwise other threads could read
    /// and write in between, and runs in a simulated world would differ.
    func hear(_ body: (inout ChannelFlow) -> ChannelFlow.Requests) {
        let mustRing = condition.withLock {
            send(body(&flow))
            condition.broadcast()
            defer { willRing = true }
            return !willRing
        }
        guard mustRing else { return }
        let hold = session.hold()
        reference.queue.async { [self] in
            condition.withLock { willRing = false }
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

    /// Sends requests while the lock is held, so that they keep their order across threads.
    private func send(_ requests: ChannelFlow.Requests) {
        for request in requests { session.send(.channel(id, request)) }
    }

    /// True if this thread may block: not if it delivers host events, or if virtual time stands still meanwhile.
    private var canWait: Bool { session.passesTime && !ServedQueue.isCurrent }
}

/// A marker for the queues of managers, on which host events arrive.
enum ServedQueue {
    private static let key = DispatchSpecificKey<Void>()

    static func mark(_ queue: DispatchQueue) { queue.setSpecific(key: key, value: ()) }

    /// True if the caller runs on such a queue.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil || Thread.isMainThread }
}
