import CoreBluetooth
import Synchronization

/// A thread that runs a run loop for the streams of channels, until the process ends.
final class StreamThread: Sendable {
    /// The thread's run loop, in which streams may be scheduled from any thread.
    private nonisolated(unsafe) let loop: RunLoop

    init() {
        let started = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var found: RunLoop?
        Thread.detachNewThread {
            let loop = RunLoop.current
            // Without a source, the run loop would not wait.
            loop.add(Timer(timeInterval: 1e9, repeats: true) { _ in }, forMode: .default)
            found = loop
            started.signal()
            while true { _ = loop.run(mode: .default, before: .distantFuture) }
        }
        started.wait()
        guard let loop = found else { preconditionFailure("a thread that runs has a run loop") }
        self.loop = loop
    }

    /// Opens a stream, and lets its delegate be called on this thread.
    func open(_ stream: Stream, for delegate: any StreamDelegate) {
        stream.delegate = delegate
        stream.schedule(in: loop, forMode: .default)
        stream.open()
    }
}

/// A counter of the octets that arrive on channels.
final class ChannelSink: NSObject, StreamDelegate {
    private let thread = StreamThread()
    private let total = Atomic(0)
    private let room = Mutex([UInt8](repeating: 0, count: 1 << 16))

    var octets: Int { total.load(ordering: .relaxed) }

    func reset() { total.store(0, ordering: .relaxed) }

    func read(_ channel: CBL2CAPChannel) {
        thread.open(channel.outputStream, for: self)
        thread.open(channel.inputStream, for: self)
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        guard eventCode == .hasBytesAvailable, let input = aStream as? InputStream else { return }
        room.withLock { room in
            while input.hasBytesAvailable {
                let count = input.read(&room, maxLength: room.count)
                guard count > 0 else { return }
                total.add(count, ordering: .relaxed)
            }
        }
    }
}

/// A writer that sends a number of octets over a channel, in pieces.
final class ChannelSource: NSObject, StreamDelegate {
    private let thread = StreamThread()
    private let left: Mutex<Int>
    private let piece = [UInt8](repeating: 0xA5, count: PeerPlan.piece)
    private let written: @Sendable () -> Void

    /// Creates a writer.
    ///
    /// `written` is called when the channel has accepted all octets.
    init(octets: Int, written: @escaping @Sendable () -> Void) {
        left = Mutex(octets)
        self.written = written
    }

    func write(_ channel: CBL2CAPChannel) {
        thread.open(channel.inputStream, for: self)
        thread.open(channel.outputStream, for: self)
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        guard eventCode == .hasSpaceAvailable, let output = aStream as? OutputStream else { return }
        let isDone = left.withLock { left in
            guard left > 0 else { return false }
            while left > 0, output.hasSpaceAvailable {
                let count = output.write(piece, maxLength: min(left, piece.count))
                guard count > 0 else { return false }
                left -= count
            }
            return left == 0
        }
        if isDone { written() }
    }
}
