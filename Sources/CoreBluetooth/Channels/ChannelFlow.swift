import BLEHost
import Foundation

/// The state of a channel as its two streams see it: octets to read, space to write, and the end.
///
/// ```
///  stream:  not open ──▶ open ──▶ closed          channel:  open ──▶ over
/// ```
///
/// An open stream has the status `open` while the channel is open; an input stream keeps it until all received octets
/// have been read. After that, the status is `atEnd` or `error`. L2CAP cannot close one direction alone, so the channel
/// is closed only when both streams are closed.
struct ChannelFlow {
    /// The maximum number of octets that have been passed to the host and not sent yet.
    static let window = 1 << 16

    /// One of the two streams of a channel.
    enum Side: CaseIterable {
        case input, output
    }

    /// The state of one stream.
    private struct StreamState {
        enum State {
            case notOpen, open, closed
        }

        var state = State.notOpen
        /// The events that the delegate has already received.
        var delivered: Stream.Event = []
    }

    /// The state of the L2CAP channel.
    private enum Link: Equatable {
        case open
        /// Ended with this failure; `nil` if the peer has closed the channel.
        case over(Failure?)
        /// Closed by the app.
        case released
    }

    private let unitLength: Int
    private var link = Link.open
    private var input = StreamState()
    private var output = StreamState()
    private var received = OctetQueue()
    /// The number of octets that the app has read and that have not been reported to the host yet.
    private var consumed = 0
    /// The number of octets that have been passed to the host and not sent yet.
    private(set) var outstanding = 0
    /// True if the app has tried to write since the channel ended.
    private var hasWrittenAfterEnd = false

    /// Creates the flow of an open channel.
    ///
    /// - Parameter unitLength: The maximum number of octets that the peer accepts in one SDU, above 0.
    init(unitLength: Int) {
        precondition(unitLength > 0, "the peer's MTU must be greater than 0")
        self.unitLength = unitLength
    }

    /// Requests for the host, in the order in which to send them.
    typealias Requests = [ChannelRequest]

    /// True if the channel is open.
    var isOpen: Bool { link == .open }

    /// True if the app has closed the channel.
    ///
    /// No more requests to the host follow.
    var isReleased: Bool { link == .released }
}

extension ChannelFlow {
    /// Processes a host event and returns the resulting requests.
    mutating func receive(_ event: ChannelEvent) -> Requests {
        switch event {
        case .received(let octets):
            guard link == .open else { return [] }
            // The app will not read these octets, so they count as read: the peer must not wait for the app.
            guard input.state != .closed else { return [.consumed(octets.count)] }
            received.append(octets)
        case .sent(let count): outstanding = max(0, outstanding - count)
        case .resized: break
        case .closed(let failure): if link == .open { link = .over(failure) }
        }
        return []
    }

    /// Closes the channel, in any state of the streams.
    mutating func release() -> Requests {
        defer {
            link = .released
            received.removeAll()
        }
        return link == .open ? [.close] : []
    }

    /// Closes the channel of an unpublished PSM.
    ///
    /// Received octets can still be read.
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
        case (.open, .over(nil)): side == .output && hasWrittenAfterEnd ? .error : .atEnd
        case (.open, .over), (.open, .released): .error
        }
    }

    /// Returns the error of a failed stream; `nil` if the stream has not failed.
    func error(of side: Side) -> (any Error)? {
        guard status(of: side) == .error else { return nil }
        return switch link {
        case .open: nil
        case .over(nil): POSIXError(.EPIPE)
        case .over(let failure?): failure.error(about: .channel)
        case .released: CBError(.operationCancelled)
        }
    }

    /// Returns the next event for a stream's delegate; `nil` if there is none.
    func dueEvent(of side: Side) -> Stream.Event? {
        let now: [Stream.Event] =
            switch status(of: side) {
            case .atEnd: [.openCompleted, .endEncountered]
            case .error: [.openCompleted, .errorOccurred]
            case .open: [.openCompleted] + (readiness(of: side).map { [$0] } ?? [])
            default: []
            }
        return now.first { !self[side].delivered.contains($0) }
    }

    /// Returns the next event for a stream's delegate and marks it as delivered; `nil` if there is none or it is in
    /// `delivered`.
    mutating func nextEvent(of side: Side, besides delivered: Stream.Event) -> Stream.Event? {
        guard let event = dueEvent(of: side), !delivered.contains(event) else { return nil }
        self[side].delivered.insert(event)
        return event
    }

    /// Returns the event that reports octets to read, or enough space to write; `nil` if there is neither.
    ///
    /// After each read or write, the event is reported again if it still applies.
    private func readiness(of side: Side) -> Stream.Event? {
        switch side {
        case .input: hasBytes ? .hasBytesAvailable : nil
        case .output: space >= Self.worthWriting ? .hasSpaceAvailable : nil
        }
    }

    private subscript(side: Side) -> StreamState {
        get { side == .input ? input : output }
        set { if side == .input { input = newValue } else { output = newValue } }
    }
}

extension ChannelFlow {
    /// True if ``read(into:)`` would return octets.
    var hasBytes: Bool { input.state == .open && !received.isEmpty }

    /// True if there are no octets to read now, but more may arrive.
    var isWaitingForBytes: Bool { input.state == .open && received.isEmpty && link == .open }

    /// Moves available octets into `destination`.
    ///
    /// Returns their number and the resulting requests. The number is 0 if there are no octets now or the stream is at
    /// its end, and −1 if the stream has failed or is not open.
    mutating func read(into destination: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, Requests) {
        input.delivered.remove(.hasBytesAvailable)
        guard input.state == .open else { return (-1, []) }
        guard hasBytes else { return (status(of: .input) == .error ? -1 : 0, []) }
        let count = received.move(to: destination)
        consumed += count
        guard link == .open, received.isEmpty || consumed >= Self.minimumReported else { return (count, []) }
        defer { consumed = 0 }
        return (count, consumed > 0 ? [.consumed(consumed)] : [])
    }

    /// The minimum number of read octets to report to the host, unless the app has read all that have arrived.
    private static let minimumReported = 4096
}

extension ChannelFlow {
    /// The minimum free space, in octets, for which the delegate is called, so that it does not have to write in small
    /// pieces.
    private static let worthWriting = window / 4

    private var space: Int { link == .open ? max(0, Self.window - outstanding) : 0 }

    /// True if ``write(_:)`` would accept octets.
    var hasSpace: Bool { output.state == .open && space > 0 }

    /// True if there is no space to write now, but there may be later.
    var isWaitingForSpace: Bool { output.state == .open && link == .open && space == 0 }

    /// Accepts as many octets as there is space for.
    ///
    /// Returns their number and the resulting requests. The number is 0 if there is no space now, and −1 if the stream
    /// is not open or the channel has ended.
    mutating func write(_ octets: UnsafeBufferPointer<UInt8>) -> (count: Int, Requests) {
        output.delivered.remove(.hasSpaceAvailable)
        guard output.state == .open else { return (-1, []) }
        guard link == .open else {
            hasWrittenAfterEnd = true
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
