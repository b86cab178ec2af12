import Foundation

/// The input stream of a channel, usable on any thread.
final class ChannelInputStream: InputStream {
    private var implementation: StreamImplementation!

    init(_ channelState: ChannelState) {
        super.init(data: Data())
        implementation = StreamImplementation(.input, of: channelState, as: self)
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        implementation.channelState.read(into: UnsafeMutableBufferPointer(start: buffer, count: max(0, len)))
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { implementation.channelState.withFlow { $0.hasBytes } }

    override func open() { implementation.open() }
    override func close() { implementation.close() }
    override var streamStatus: Stream.Status { implementation.status }
    override var streamError: (any Error)? { implementation.error }

    override var delegate: (any StreamDelegate)? {
        get { implementation.delegate }
        set { implementation.delegate = newValue }
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        implementation.schedule(in: aRunLoop, mode)
    }
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        implementation.remove(from: aRunLoop, mode)
    }
    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}

/// The output stream of a channel, usable on any thread.
final class ChannelOutputStream: OutputStream {
    private var implementation: StreamImplementation!

    convenience init(_ channelState: ChannelState) {
        self.init(toMemory: ())
        implementation = StreamImplementation(.output, of: channelState, as: self)
    }

    /// Creates a stream without a channel, which cannot be used.
    ///
    /// Foundation requires this initializer.
    required init(toMemory: ()) { super.init(toMemory: ()) }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        implementation.channelState.write(UnsafeBufferPointer(start: buffer, count: max(0, len)))
    }

    override var hasSpaceAvailable: Bool { implementation.channelState.withFlow { $0.hasSpace } }

    override func open() { implementation.open() }
    override func close() { implementation.close() }
    override var streamStatus: Stream.Status { implementation.status }
    override var streamError: (any Error)? { implementation.error }

    override var delegate: (any StreamDelegate)? {
        get { implementation.delegate }
        set { implementation.delegate = newValue }
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        implementation.schedule(in: aRunLoop, mode)
    }
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        implementation.remove(from: aRunLoop, mode)
    }
    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
