import BLEHost
import BLERuntime
import BLEWire
import Foundation

/// What a channel's two streams have in common: the flow of octets between them and the host.
///
/// Any thread may read and write, whichever hears the host. Sendable because a lock guards what changes; nothing of an
/// app is called while it is held.
final class ChannelConduit: @unchecked Sendable {
    let id: ChannelID
    let psm: CBL2CAPPSM
    let peer: PeerIdentifier
    private let session: any HostSession
    let reference: ManagerReference
    private let condition = NSCondition()
    private var flow: ChannelFlow
    /// Whether the delegates will be told soon of what the host said.
    private var willRing = false
    /// Tells the delegates; set before anybody else knows the conduit.
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

    /// Looks at the flow, and changes nothing that others wait for.
    func look<Result>(_ body: (inout ChannelFlow) -> Result) -> Result { condition.withLock { body(&flow) } }

    /// Changes the flow for the app, asks the host for what follows, and tells whom it concerns.
    func change(_ body: (inout ChannelFlow) -> ChannelFlow.Requests) {
        condition.withLock {
            send(body(&flow))
            condition.broadcast()
        }
        events.ring()
    }

    /// Changes the flow on the manager's queue, for the host.
    ///
    /// Whom it concerns is told when all is heard that came with it, since other threads would otherwise read and write
    /// while it is being heard, and no two runs in a simulated world would be alike.
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
            events.ring()
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
        events.ring()
        return count
    }

    func write(_ octets: UnsafeBufferPointer<UInt8>) -> Int {
        let count = condition.withLock {
            if canWait { while flow.isWaitingForSpace { condition.wait() } }
            let (count, requests) = flow.write(octets)
            send(requests)
            return count
        }
        events.ring()
        return count
    }

    /// Hands requests over while the lock is held, so that they keep their order whichever threads they come from.
    private func send(_ requests: ChannelFlow.Requests) {
        for request in requests { session.send(.channel(id, request)) }
    }

    /// Whether this thread may wait for the host: not if the host is heard on it, or if time stands still meanwhile.
    private var canWait: Bool { session.passesTime && !ServedQueue.isCurrent }
}

/// Marks the queues on which managers call their delegates, and with that hear the host.
enum ServedQueue {
    private static let key = DispatchSpecificKey<Void>()

    static func mark(_ queue: DispatchQueue) { queue.setSpecific(key: key, value: ()) }

    /// Whether the caller keeps such a queue from going on.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil || Thread.isMainThread }
}
