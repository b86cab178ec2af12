import BLERuntime
import CoreBluetooth
import Synchronization

/// Writes down what a stream tells its delegate, and does what a test wants about it.
final class StreamListener: NSObject, StreamDelegate {
    private struct State {
        var events: [String] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())
    private let reaction: (Stream, Stream.Event) -> Void

    init(_ reaction: @escaping (Stream, Stream.Event) -> Void = { _, _ in }) { self.reaction = reaction }

    /// The events since the beginning, each in a word.
    var events: [String] { state.withLock { $0.events } }

    /// Returns when so many events have been heard.
    func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.events.count >= count { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        reaction(aStream, eventCode)
        let ready = state.withLock { state in
            state.events.append(Self.word(for: eventCode))
            let count = state.events.count
            defer { state.waiting.removeAll { $0.count <= count } }
            return state.waiting.filter { $0.count <= count }
        }
        for (_, continuation) in ready { continuation.resume() }
    }

    private static func word(for event: Stream.Event) -> String {
        switch event {
        case .openCompleted: "open"
        case .hasBytesAvailable: "bytes"
        case .hasSpaceAvailable: "space"
        case .endEncountered: "end"
        case .errorOccurred: "error"
        default: "event \(event.rawValue)"
        }
    }
}

/// A thread that runs its run loop until it is stopped.
final class LoopThread {
    private let stopped = Atomic<Bool>(false)
    private(set) var loop = RunLoop.main

    init() {
        let started = DispatchSemaphore(value: 0)
        nonisolated(unsafe) let this = self
        Thread.detachNewThread {
            let loop = RunLoop.current
            this.loop = loop
            let port = Timer(timeInterval: 1e9, repeats: true) { _ in }
            loop.add(port, forMode: .default)
            loop.add(port, forMode: LoopThread.mode)
            started.signal()
            while !this.stopped.load(ordering: .relaxed) {
                for mode in [RunLoop.Mode.default, LoopThread.mode] {
                    _ = loop.run(mode: mode, before: Date(timeIntervalSinceNow: 0.01))
                }
            }
        }
        started.wait()
    }

    /// A mode of the thread's own.
    static let mode = RunLoop.Mode("test")

    /// Lets the thread end; call it once.
    func stop() { stopped.store(true, ordering: .relaxed) }
}

extension InputStream {
    /// Everything that is there, in pieces of at most `length`.
    func readAll(_ length: Int = 4096) -> [UInt8] {
        var result: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: length)
        while hasBytesAvailable {
            let count = read(&piece, maxLength: length)
            guard count > 0 else { break }
            result += piece[..<count]
        }
        return result
    }
}

extension OutputStream {
    /// Writes as much as there is room for; how much that was.
    func write(_ octets: some Sequence<UInt8>) -> Int {
        let all = Array(octets)
        var count = 0
        while count < all.count, hasSpaceAvailable {
            let written = all[count...].withUnsafeBufferPointer { write($0.baseAddress!, maxLength: $0.count) }
            guard written > 0 else { break }
            count += written
        }
        return count
    }
}
