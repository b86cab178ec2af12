import BLEHost
import Foundation

/// What one channel is to its two streams: what is there to read, what may be written, and how it ended.
///
/// ```
///  stream:  not open ──▶ open ──▶ closed          channel:  open ──▶ over
/// ```
///
/// A stream that is open shows how the channel stands: while that is open, and as long as there is something to read,
/// it is open; afterwards it is at its end, or failed. L2CAP knows no channel that is open in one direction, so it is
/// closed when both streams are.
struct ChannelFlow {
    /// How many octets may be with the host, written and not yet sent.
    static let window = 1 << 16

    /// A direction, which is one of the streams.
    enum Side: CaseIterable {
        case input, output
    }

    /// A direction, as the app treats it.
    private struct Direction {
        enum State {
            case notOpen, open, closed
        }

        var state = State.notOpen
        /// The events that need not be told again.
        var told: Stream.Event = []
    }

    /// The channel, as it is on the air.
    private enum Link: Equatable {
        case open
        /// It ended; `nil` if the peer wanted it so.
        case over(Failure?)
        /// This end gave it up.
        case released
    }

    private let unitLength: Int
    private var link = Link.open
    private var input = Direction()
    private var output = Direction()
    private var received = OctetQueue()
    /// Octets that the app has read, of which the host has not been told.
    private var consumed = 0
    /// Octets that are with the host.
    private(set) var outstanding = 0
    /// Whether the app has written to a channel that was over.
    private var hasWrittenInVain = false

    /// Creates the flow of a channel that is open.
    ///
    /// - Parameter unitLength: The most octets that the peer takes at once, above 0.
    init(unitLength: Int) {
        precondition(unitLength > 0, "a peer that takes no octets has no channel")
        self.unitLength = unitLength
    }

    /// What the host has to be asked for, in this order.
    typealias Requests = [ChannelRequest]

    /// Whether the channel is there.
    var isOpen: Bool { link == .open }

    /// Whether nothing more will be asked of the host.
    var isReleased: Bool { link == .released }
}

extension ChannelFlow {
    /// Takes what the host says; returns what to ask it for.
    mutating func receive(_ event: ChannelEvent) -> Requests {
        switch event {
        case .received(let octets):
            guard link == .open else { return [] }
            // Nobody will read it: the peer shall not wait for that.
            guard input.state != .closed else { return [.consumed(octets.count)] }
            received.append(octets)
        case .sent(let count): outstanding = max(0, outstanding - count)
        case .resized: break
        case .closed(let failure): if link == .open { link = .over(failure) }
        }
        return []
    }

    /// Gives the channel up, whatever the streams do.
    mutating func release() -> Requests {
        defer {
            link = .released
            received.removeAll()
        }
        return link == .open ? [.close] : []
    }

    /// Closes the channel under the app, which may read what is there already.
    mutating func withdraw() -> Requests {
        guard link == .open else { return [] }
        link = .over(.cancelled)
        return [.close]
    }

    mutating func open(_ side: Side) { if self[side].state == .notOpen { self[side].state = .open } }

    mutating func close(_ side: Side) -> Requests {
        self[side].state = .closed
        let unread = side == .input ? received.count + consumed : 0
        if side == .input {
            consumed = 0
            received.removeAll()
        }
        if input.state == .closed, output.state == .closed { return release() }
        return unread > 0 && link == .open ? [.consumed(unread)] : []
    }
}

extension ChannelFlow {
    func status(of side: Side) -> Stream.Status {
        switch (self[side].state, link) {
        case (.notOpen, _): .notOpen
        case (.closed, _): .closed
        case (.open, .open): .open
        case (.open, _) where side == .input && !received.isEmpty: .open
        case (.open, .over(nil)): side == .output && hasWrittenInVain ? .error : .atEnd
        case (.open, .over), (.open, .released): .error
        }
    }

    /// Why a stream is of no use.
    func error(of side: Side) -> (any Error)? {
        guard status(of: side) == .error else { return nil }
        return switch link {
        case .open: nil
        case .over(nil): POSIXError(.EPIPE)
        case .over(let failure?): failure.error(about: .channel)
        case .released: CBError(.operationCancelled)
        }
    }

    /// What a stream's delegate has to hear of next.
    func dueEvent(of side: Side) -> Stream.Event? {
        let now: [Stream.Event] =
            switch status(of: side) {
            case .atEnd: [.openCompleted, .endEncountered]
            case .error: [.openCompleted, .errorOccurred]
            case .open: [.openCompleted] + (readiness(of: side).map { [$0] } ?? [])
            default: []
            }
        return now.first { !self[side].told.contains($0) }
    }

    /// The next event that a stream's delegate hears of, unless it is one of `told`.
    mutating func nextEvent(of side: Side, besides told: Stream.Event) -> Stream.Event? {
        guard let event = dueEvent(of: side), !told.contains(event) else { return nil }
        self[side].told.insert(event)
        return event
    }

    /// What a delegate is told of as often as it has done something about it.
    private func readiness(of side: Side) -> Stream.Event? {
        switch side {
        case .input: hasBytes ? .hasBytesAvailable : nil
        case .output: space >= Self.worthWriting ? .hasSpaceAvailable : nil
        }
    }

    private subscript(side: Side) -> Direction {
        get { side == .input ? input : output }
        set { if side == .input { input = newValue } else { output = newValue } }
    }
}

extension ChannelFlow {
    /// Whether ``read(into:)`` has something to give.
    var hasBytes: Bool { input.state == .open && !received.isEmpty }

    /// Whether there may be something to read later, but there is nothing now.
    var isWaitingForBytes: Bool { input.state == .open && received.isEmpty && link == .open }

    /// Moves what is there into `destination`: how much, 0 if there is nothing, -1 if there can be nothing.
    mutating func read(into destination: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, Requests) {
        input.told.remove(.hasBytesAvailable)
        guard input.state == .open else { return (-1, []) }
        guard hasBytes else { return (status(of: .input) == .error ? -1 : 0, []) }
        let count = received.move(to: destination)
        consumed += count
        guard link == .open, received.isEmpty || consumed >= Self.worthTelling else { return (count, []) }
        defer { consumed = 0 }
        return (count, consumed > 0 ? [.consumed(consumed)] : [])
    }

    /// How many octets have to be read before the host is told although there is more to read.
    private static let worthTelling = 4096
}

extension ChannelFlow {
    /// How much room there has to be before the delegate is told again, so that it need not write in crumbs.
    private static let worthWriting = window / 4

    private var space: Int { link == .open ? max(0, Self.window - outstanding) : 0 }

    /// Whether ``write(_:)`` would take something.
    var hasSpace: Bool { output.state == .open && space > 0 }

    /// Whether something may be written later, but nothing now.
    var isWaitingForSpace: Bool { output.state == .open && link == .open && space == 0 }

    /// Takes as much as there is room for: how much, 0 if there is none, -1 if there never will be.
    mutating func write(_ octets: UnsafeBufferPointer<UInt8>) -> (count: Int, Requests) {
        output.told.remove(.hasSpaceAvailable)
        guard output.state == .open else { return (-1, []) }
        guard link == .open else {
            hasWrittenInVain = true
            return (-1, [])
        }
        let count = min(octets.count, space)
        outstanding += count
        let units = stride(from: 0, to: count, by: unitLength).map { start in
            ChannelRequest.send([UInt8](octets[start..<min(count, start + unitLength)]))
        }
        return (count, units)
    }
}
