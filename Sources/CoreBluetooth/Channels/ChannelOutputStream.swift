import Foundation

/// What is sent to the other end of a channel, as a stream, for any thread.
final class ChannelOutputStream: OutputStream {
    private var conduit: ChannelConduit!

    convenience init(_ conduit: ChannelConduit) {
        self.init(toMemory: ())
        self.conduit = conduit
        conduit.outputEvents.belong(to: self)
    }

    /// What Foundation requires of its subclasses; a stream without a channel is of no use.
    required init(toMemory: ()) { super.init(toMemory: ()) }

    override func open() {
        conduit.change {
            $0.openOutput()
            return []
        }
    }

    override func close() {
        conduit.outputEvents.removeAll()
        conduit.change { $0.closeOutput() }
    }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength len: Int) -> Int {
        conduit.write(UnsafeBufferPointer(start: buffer, count: max(0, len)))
    }

    override var hasSpaceAvailable: Bool { conduit.look { $0.hasSpace } }
    override var streamStatus: Stream.Status { conduit.look { $0.outputStatus } }
    override var streamError: (any Error)? { conduit.look { $0.outputError } }

    override var delegate: (any StreamDelegate)? {
        get { conduit.outputEvents.delegate }
        set { conduit.outputEvents.delegate = newValue }
    }

    override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        conduit.outputEvents.schedule(in: aRunLoop, mode)
    }

    override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {
        conduit.outputEvents.remove(from: aRunLoop, mode)
    }

    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
