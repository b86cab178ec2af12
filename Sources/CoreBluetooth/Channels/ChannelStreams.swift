import Foundation

/// The input stream of a channel, usable on any thread.
final class ChannelInputStream: InputStream {
    private var end: ChannelEnd!

    init(_ conduit: ChannelConduit) {
        super.init(data: Data())
        end = ChannelEnd(.input, of: conduit, as: self)
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        end.conduit.read(into: UnsafeMutableBufferPointer(start: buffer, count: max(0, len)))
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length len: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { end.conduit.withFlow { $0.hasBytes } }

    override func open() { end.open() }
    override func close() { end.close() }
    override var streamStatus: Stream.Status { end.status }
    override var streamError: (any Error)? { end.error }

    override var delegate: (any StreamDelegate)? {
        get { end.delegate }
        set { end.delegate = newValue }
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.schedule(in: aRunLoop, mode) }
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.remove(from: aRunLoop, mode) }
    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}

/// The output stream of a channel, usable on any thread.
final class ChannelOutputStream: OutputStream {
    private var end: ChannelEnd!

    convenience init(_ conduit: ChannelConduit) {
        self.init(toMemory: ())
        end = ChannelEnd(.output, of: conduit, as: self)
    }

    /// Required by Foundation.
    ///
    /// A stream without a channel cannot be used.
    required init(toMemory: ()) { super.init(toMemory: ()) }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        end.conduit.write(UnsafeBufferPointer(start: buffer, count: max(0, len)))
    }

    override var hasSpaceAvailable: Bool { end.conduit.withFlow { $0.hasSpace } }

    override func open() { end.open() }
    override func close() { end.close() }
    override var streamStatus: Stream.Status { end.status }
    override var streamError: (any Error)? { end.error }

    override var delegate: (any StreamDelegate)? {
        get { end.delegate }
        set { end.delegate = newValue }
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.schedule(in: aRunLoop, mode) }
    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) { end.remove(from: aRunLoop, mode) }
    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
