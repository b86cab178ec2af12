public import Foundation

/// A choice of memory for objects of Core Foundation; without effect.
public final class CFAllocator: Sendable {}
/// The usual choice of memory.
public let kCFAllocatorDefault: CFAllocator? = nil
/// The number of a socket.
public typealias CFSocketNativeHandle = Int32

/// Creates two streams on a socket, which remains open after them.
///
/// Reading and writing wait until the socket is ready. The streams send no events to delegates.
public func CFStreamCreatePairWithSocket(
    _ allocator: CFAllocator!,
    _ socket: CFSocketNativeHandle,
    _ readStream: UnsafeMutablePointer<Unmanaged<CFReadStream>?>!,
    _ writeStream: UnsafeMutablePointer<Unmanaged<CFWriteStream>?>!
) {
    readStream?.pointee = .passRetained(SocketInputStream(socket))
    writeStream?.pointee = .passRetained(SocketOutputStream(socket))
}

/// The status of a stream on a socket.
private struct SocketState {
    let socket: Int32
    private(set) var status = Stream.Status.notOpen
    private(set) var error: (any Error)?

    init(_ socket: Int32) { self.socket = socket }

    mutating func open() { if status == .notOpen { status = .open } }
    mutating func close() { status = .closed }

    /// True if reading or writing would not wait.
    func isReady(for events: Int32) -> Bool {
        var request = pollfd(fd: socket, events: Int16(events), revents: 0)
        return status == .open && poll(&request, 1, 0) == 1
    }

    /// Reads or writes, unless the stream is not open; the result is -1 after an error.
    mutating func transfer(_ call: (Int32) -> Int) -> Int {
        guard status == .open else { return status == .atEnd ? 0 : -1 }
        var count = call(socket)
        while count < 0, errno == EINTR { count = call(socket) }
        guard count < 0 else { return count }
        error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        status = .error
        return -1
    }

    mutating func end() { status = .atEnd }
}

private final class SocketInputStream: InputStream {
    private var state: SocketState

    init(_ socket: Int32) {
        state = SocketState(socket)
        super.init(data: Data())
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        let count = state.transfer { recv($0, buffer, max(0, len), 0) }
        if count == 0, len > 0, state.status == .open { state.end() }
        return count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { state.isReady(for: Int32(POLLIN)) }
    override func open() { state.open() }
    override func close() { state.close() }
    override var streamStatus: Stream.Status { state.status }
    override var streamError: (any Error)? { state.error }
    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}

private final class SocketOutputStream: OutputStream {
    private var state = SocketState(-1)

    convenience init(_ socket: Int32) {
        self.init(toMemory: ())
        state = SocketState(socket)
    }

    required init(toMemory: ()) { super.init(toMemory: ()) }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        state.transfer { send($0, buffer, max(0, len), Int32(MSG_NOSIGNAL)) }
    }

    override var hasSpaceAvailable: Bool { state.isReady(for: Int32(POLLOUT)) }
    override func open() { state.open() }
    override func close() { state.close() }
    override var streamStatus: Stream.Status { state.status }
    override var streamError: (any Error)? { state.error }
    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}
