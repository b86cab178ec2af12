public import Dispatch
public import Foundation

/// Core Foundation's name of an input stream.
public typealias CFReadStream = InputStream
/// Core Foundation's name of an output stream.
public typealias CFWriteStream = OutputStream

/// Calls the delegate of a stream on a queue; `nil` ends the calls.
///
/// The delegate has to be set before.
public func CFReadStreamSetDispatchQueue(_ stream: CFReadStream!, _ queue: DispatchQueue!) {
    StreamQueues.set(queue, of: stream)
}

/// Calls the delegate of a stream on a queue; `nil` ends the calls.
///
/// The delegate has to be set before.
public func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream!, _ queue: DispatchQueue!) {
    StreamQueues.set(queue, of: stream)
}

/// The streams whose delegates are called on queues.
private enum StreamQueues {
    /// A delegate that passes events to another delegate, on a queue.
    private final class Forwarder: NSObject, StreamDelegate {
        weak var delegate: (any StreamDelegate)?
        private let queue: DispatchQueue

        init(to delegate: (any StreamDelegate)?, on queue: DispatchQueue) {
            self.delegate = delegate
            self.queue = queue
        }

        func stream(_ stream: Stream, handle event: Stream.Event) {
            nonisolated(unsafe) let stream = stream
            nonisolated(unsafe) let forwarder = self
            queue.async { forwarder.delegate?.stream(stream, handle: event) }
        }
    }

    nonisolated(unsafe) private static let key = UnsafeRawPointer(
        UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    )

    /// The run loop on which the events of all streams arrive. Its thread never ends.
    nonisolated(unsafe) private static let loop: RunLoop = {
        let started = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var loop = RunLoop.main
        let thread = Thread {
            loop = RunLoop.current
            loop.add(Timer(timeInterval: 1_000_000_000, repeats: true) { _ in }, forMode: .default)
            started.signal()
            while true { RunLoop.current.run(until: .distantFuture) }
        }
        thread.name = "stream queues"
        thread.start()
        started.wait()
        return loop
    }()

    static func set(_ queue: DispatchQueue?, of stream: Stream?) {
        guard let stream else { return }
        if let forwarder = objc_getAssociatedObject(stream, key) as? Forwarder {
            stream.remove(from: loop, forMode: .default)
            if stream.delegate === forwarder { stream.delegate = forwarder.delegate }
            objc_setAssociatedObject(stream, key, nil, .OBJC_ASSOCIATION_RETAIN)
        }
        guard let queue else { return }
        let forwarder = Forwarder(to: stream.delegate, on: queue)
        objc_setAssociatedObject(stream, key, forwarder, .OBJC_ASSOCIATION_RETAIN)
        stream.delegate = forwarder
        stream.schedule(in: loop, forMode: .default)
    }
}
