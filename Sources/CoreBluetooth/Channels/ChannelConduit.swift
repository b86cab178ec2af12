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
    private let condition = NSCondition()
    private var flow: ChannelFlow
    /// Tells the delegates; set before anybody else knows the conduit.
    private(set) var inputEvents: StreamEvents!
    private(set) var outputEvents: StreamEvents!

    init(_ channel: OpenedChannel, with peer: PeerIdentifier, session: any HostSession) {
        id = channel.id
        psm = channel.psm.wire
        self.peer = peer
        self.session = session
        flow = ChannelFlow(unitLength: max(1, channel.outgoingMTU))
        let hold: @Sendable () -> Hold? = { session.hold() }
        inputEvents = StreamEvents(hold: hold) { [weak self] in
            self?.look { $0.dueInputEvent != nil } ?? false
        } next: { [weak self] told in
            self?.look { $0.nextInputEvent(besides: told) }
        }
        outputEvents = StreamEvents(hold: hold) { [weak self] in
            self?.look { $0.dueOutputEvent != nil } ?? false
        } next: { [weak self] told in
            self?.look { $0.nextOutputEvent(besides: told) }
        }
    }

    /// Looks at the flow, and changes nothing that others wait for.
    func look<Result>(_ body: (inout ChannelFlow) -> Result) -> Result { condition.withLock { body(&flow) } }

    /// Changes the flow, asks the host for what follows, and tells whom it concerns.
    func change(_ body: (inout ChannelFlow) -> ChannelFlow.Requests) {
        condition.withLock {
            send(body(&flow))
            condition.broadcast()
        }
        inputEvents.ring()
        outputEvents.ring()
    }

    func read(into destination: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let count = condition.withLock {
            if canWait { while flow.isWaitingForBytes { condition.wait() } }
            let (count, requests) = flow.read(into: destination)
            send(requests)
            return count
        }
        inputEvents.ring()
        return count
    }

    func write(_ octets: UnsafeBufferPointer<UInt8>) -> Int {
        let count = condition.withLock {
            if canWait { while flow.isWaitingForSpace { condition.wait() } }
            let (count, requests) = flow.write(octets)
            send(requests)
            return count
        }
        outputEvents.ring()
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
